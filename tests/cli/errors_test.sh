#!/usr/bin/env bash
# Every error message of main.c, the verbs and the config parser must occur in the expected output of a case of
# tests/cli. Messages that no case can trigger are listed below, each with the reason.
set -u
cd "$ROOT" || exit 1

read -r -d '' excused <<'LIST'
cannot start a process: %s	needs a fork that fails
a simulating process died	needs a killed process
a process that traced genomes died	the same
cannot map memory for %d genomes: %s: use fewer	some machines promise memory that they have not
%zu bytes of results: %s: simulate fewer at once	some machines promise memory that they have not
cannot read the template %s: %s	needs a file that is deleted between two reads
"%s" is not a verdict	these are read from the run's own file, which only SQLite changes
"%s" is not a result of a duel	the same
element %d is not a trial with its microseconds: fit again	the same; tests/report/goals_test.c damages it
more than %d implementations	the same
more than %d cases	the same
%s does not record its device: start a new run	the same
trial %lld of %s cannot be replayed: the run was made by another version of evotile; its results can be read, but start a new run	the same
%s is inconsistent: replaying its events does not give the state of its last checkpoint; it was edited, or made by another version of evotile	the same
%s was measured on %s, but the device file of its architecture is for %s: add one to configs/devices	needs a run that was measured on a GPU
%s has no readable config.json: restore it from a copy	the same
the genome "%.200s" cannot be read: the run is damaged	needs a run.db that was edited by hand
the genome "%.200s" has other genes than the first: the run is damaged	needs a run.db that was edited by hand
%s has %d goals: the run is damaged	the same
%s/run.db has %d goals, and config.json gives %d: restore both from a copy, or start a new run	the same; tests/runs/damaged.py adds a goal
%s/run.db is damaged (table trials, number %lld: told %lld does not continue its events): restore it from a copy, or save what is whole of it with `evotile fsck %s --salvage OUT`	the same; tests/runs/damaged.py changes each column
a code of the wisdom store is cut short: remove the store, and add the runs again	needs a store whose digests were made again
the dispatcher takes more than %d variants: raise --within, or give --genomes N	needs hundreds of kernels
--within times the kernels on %s, which is not here: export on a host that has one, or leave --within out	needs a run of another host
no trial could be traced: give a run with valid trials	needs a run of which no trial can be compiled again
%s/manifest.json: no case has the specialised dimensions of units[%d]: the manifest was edited; export again	needs a manifest with a unit that no case has
another process holds %s: end it	needs a process that holds the lock for as long as a run waits
the path %.100s... is too long: name another in EVOTILE_INDEX	a path of that length is refused before
%s changed while it was read: try again	needs a file that is replaced between two reads
is unknown to this version of evotile	of status.json, which watch passes over: tests/session/status_file_test.c
LIST

perl -0777 -e '
    use strict;
    my ($excused, @paths) = @ARGV;
    my %excused = map { (split /\t/)[0] => 1 } split /\n/, $excused;
    my (@errors, @shown);
    for my $path (@paths) {
        open my $file, "<", $path or die "$path: $!";
        my $text = <$file>;
        if ($path =~ /\.c$/) {
            while ($text =~ /(?:error_(?:input|set)\(\s*&?\w+\s*,|json_error\([^,]+,\s*&?\w+\s*,|fprintf\(stderr,)\s*((?:"(?:[^"\\]|\\.)*"\s*(?:PRI\w+\s*)?)+)/g) {
                my ($literals, $words) = ($1, "");
                while ($literals =~ /"((?:[^"\\]|\\.)*)"|PRI\w+/g) {
                    $words .= defined $1 ? $1 : "lld";
                }
                $words =~ s/\\n$//;
                $words =~ s/\\(["\\])/$1/g;
                push @errors, [$path, $words];
            }
        } else {
            push @shown, split /\n/, $text;
        }
    }
    my ($bad, %used) = 0;
    for (@errors) {
        my ($path, $words) = @$_;
        if ($excused{$words}) { $used{$words} = 1; next; }
        my $pattern = join ".*", map { quotemeta } split /%[-+ #0-9.*]*(?:ll|z|l)?[a-zA-Z]/, $words, -1;
        $pattern =~ s/\\%\\%/%/g;
        next if grep { /$pattern/ } @shown;
        print "$path: no case of tests/cli shows: $words\n";
        $bad = 1;
    }
    for (sort keys %excused) {
        next if $used{$_};
        print "excused, and no error: $_\n";
        $bad = 1;
    }
    print scalar(@errors), " errors\n";
    exit $bad;
' "$excused" search/main.c search/{cli,session,run,analysis,simulate,config,wisdom}/*.c tests/cli/*.stdout tests/cli/*.stderr tests/gpu/cli/*.stdout
