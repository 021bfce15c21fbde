def reference(case, x):
    return case["factor"] * x
