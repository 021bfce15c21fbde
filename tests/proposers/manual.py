"""See manual_test.sh."""
import os
import subprocess
import tempfile

import proposals

PARENT = proposals.read_solution("templates/softmax_f32/start")


def write(folder, name, text=""):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "w").write(text)


def wait_line(process, words):
    """The next line of manual's standard error that has the words."""
    while True:
        line = process.stderr.readline()
        assert line, f"manual ended without {words!r}"
        if words in line:
            return line


def main():
    with tempfile.TemporaryDirectory() as folder:
        one = os.path.join(folder, "1")
        with proposals.Proposer(["manual", "--folder", folder], stderr=subprocess.PIPE) as manual:
            manual.send(proposals.request(PARENT, number=1))
            wait_line(manual.process, f"edit {one}/files")
            prompt = open(os.path.join(one, "prompt.txt")).read()
            assert PARENT["files"]["kernel.cu"] in prompt and "softmax" in prompt and "{{" not in prompt
            for name, text in PARENT["files"].items():
                assert open(os.path.join(one, "files", name)).read() == text
            # nothing is changed yet, and no hypothesis: both are said, and the wait goes on
            write(one, "done")
            wait_line(manual.process, "hypothesis.txt needs a line")
            write(one, "hypothesis.txt", "\n  it is faster  \nmore words\n")
            write(one, "done")
            wait_line(manual.process, "nothing differs")
            assert not os.path.exists(os.path.join(one, "done"))
            write(one, "files/kernel.cu", PARENT["files"]["kernel.cu"].replace("expf", "__expf"))
            write(one, "files/sub/part.cuh", "// é\n")
            write(one, "files/.kernel.cu.swp", "\0")
            write(one, "files/kernel.cu~", "old")
            write(one, "files/bad.bin", "\0")
            write(one, "done")
            wait_line(manual.process, "UTF-8")
            os.remove(os.path.join(one, "files/bad.bin"))
            write(one, "done.new")
            os.rename(os.path.join(one, "done.new"), os.path.join(one, "done"))  # as an editor does
            answer = manual.receive()
            assert answer["hypothesis"] == "it is faster" and set(answer["files"]) == {"kernel.cu", "sub/part.cuh"}, answer
            assert "__expf" in proposals.apply(PARENT["files"], answer)["kernel.cu"]
            # a genome in place of files
            manual.send(proposals.request(PARENT, number=2))
            two = os.path.join(folder, "2")
            wait_line(manual.process, "edit")
            write(two, "hypothesis.txt", "more warps")
            write(two, "genome.txt", "THREADS=512\n")
            write(two, "done")
            answer = manual.receive()
            assert answer["genome"] == "THREADS=512" and "files" not in answer
            # a file is removed
            manual.send(proposals.request(PARENT, number=3))
            wait_line(manual.process, "edit")
            write(folder, "3/hypothesis.txt", "less")
            os.remove(os.path.join(folder, "3/files/kernel.cu"))
            write(folder, "3/done")
            assert manual.receive()["files"] == {"kernel.cu": None}
            # no idea
            manual.send(proposals.request(PARENT, number=4))
            wait_line(manual.process, "edit")
            write(folder, "4/skip.new", "no idea\n")
            os.rename(os.path.join(folder, "4/skip.new"), os.path.join(folder, "4/skip"))  # it appears with its text
            assert manual.receive()["error"] == "skipped: no idea"
            # the run ends while it waits
            manual.send(proposals.request(PARENT, number=5))
            wait_line(manual.process, "edit")
            write(folder, "5/hypothesis.txt", "later")
            write(folder, "5/files/kernel.cu", "// edited before the run ended\n")
            manual.process.kill()
        # the same question again: the edits are there, and a done that came meanwhile counts
        write(folder, "5/done")
        with proposals.Proposer(["manual", "--folder", folder], stderr=subprocess.PIPE) as manual:
            assert manual.ask(proposals.request(PARENT, number=5))["files"] == {"kernel.cu": "// edited before the run ended\n"}
            other = proposals.as_parent({**PARENT["files"], "kernel.cu": "// another\n"})
            assert "its own --folder" in manual.ask(proposals.request(other, number=5))["error"]
            assert manual.close() == 0
        # the reader of answers is gone: manual ends by itself
        manual = proposals.Proposer(["manual", "--folder", folder], stderr=subprocess.PIPE)
        manual.send(proposals.request(PARENT, number=6))
        wait_line(manual.process, "edit")
        manual.process.stdout.close()
        manual.process.stdin.close()
        assert manual.process.wait(60) != 0
    print("a session is right")


main()
