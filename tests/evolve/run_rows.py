"""Reads the database of a run, also of one that a process writes or whose process was killed."""
import sqlite3

# How far a run is: every row that comes and every value that becomes known counts.
PROGRESS = ("SELECT (SELECT count(*) + count(told) FROM trials) + (SELECT count(*) FROM goals) + "
            "(SELECT count(*) + count(answer) + count(solution) + count(goal) + count(decision) FROM proposals)")


def query(run, sql):
    """The rows; none if the run has no database yet."""
    try:
        database = sqlite3.connect(f"file:{run}/run.db?mode=ro", uri=True, timeout=5)
        try:
            return database.execute(sql).fetchall()
        finally:
            database.close()
    except sqlite3.Error:
        return []
