# `import` makes a template of a T1 description that runs at once, says what it decided, and asks for what is missing.
. "$ROOT/tests/cli/tell"
from="$ROOT/tests/import"
here() { tell "$@" | sed "s|$ROOT|ROOT|g"; }
cp "$from/scale.cu" "$from/scale.py" "$from/plain.json" .
here import plain.json
jq -c '.launches[0] | [.kernel, .grid, .block, .arguments]' scale/template.json
"$EVOTILE" try scale.json --device emulated:sm_90 | grep -e FAILED -e '^ok' -e wrong
here import plain.json scale.cu --reference scale.py --name by_python --out place
"$EVOTILE" try place/by_python.json --device emulated:sm_90 --json | jq -r .verdict
"$EVOTILE" lint place/by_python.json --mutants 6 --device emulated:sm_90 --json 2>/dev/null | jq -c '[.caught, .not_caught]'
cat >scale_reference.cu <<'CUDA'
extern "C" __global__ void scale_reference(const float *x, double *y, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = (double)factor * x[i];
}
CUDA
here import plain.json --reference scale_reference.cu --name by_cuda | tail -n 1
"$EVOTILE" try by_cuda.json --device emulated:sm_90 --json | jq -r .verdict

# Renamed parameters, tables.
here import "$from/names.json" --name names
"$EVOTILE" try names.json --device emulated:sm_90 --json | jq -r .verdict
here import "$from/fractions.json" --name fractions
jq -r '.constraints[] | .require' fractions/template.json

# Shared memory is a number, or an expression of parameters.
jq '.KernelSpecification.SharedMemory = "items * 4"' plain.json >bytes.json
here import bytes.json --name shared | tail -n 1
jq -r '.launches[0].smem' shared/template.json

# What the description does not say is asked for.
jq 'del(.KernelSpecification.Arguments[].AccessType)' plain.json >roles.json
here import roles.json --name with_roles
here import roles.json --name with_roles --output y | tail -n 1
jq -c ".tensors | map_values(.role)" with_roles/template.json
jq 'del(.KernelSpecification.Arguments[0].Size, .KernelSpecification.Arguments[2].FillValue)' plain.json >sizes.json
here import sizes.json --name with_sizes
here import sizes.json --name with_sizes --size x=4096
here import sizes.json --name with_sizes --size x=4096,n=4096 | tail -n 1
"$EVOTILE" try with_sizes.json --device emulated:sm_90 --json | jq -r .verdict

# A file of KTT: a kernel that is a template, contents by an expression and from a file, a budget.
cp -r "$from/ktt" ktt
python3 -c 'import struct; open("ktt/b.bin", "wb").write(struct.pack("<1024f", *range(1024)))'
here import ktt/axpy.json
jq -c '.launches[0] | [.kernel, .grid]' axpy/template.json
jq -c '[.tensors.x.fill, .tensors.b.fill]' axpy/template.json
jq -c .budget axpy.json
python3 - <<'PYTHON'
import struct
x = struct.unpack("<1024f", open("axpy/x.bin", "rb").read())
print("x is", "as in Python" if x == tuple(2 * i + 0.5 if i % 3 else -i for i in range(1024)) else "wrong")
PYTHON
cmp axpy/b.bin ktt/b.bin
"$EVOTILE" try axpy.json --device emulated:sm_90 --json | jq -r .verdict
change_ktt() {
    jq "$1" ktt/axpy.json >ktt/changed.json
    here import ktt/changed.json --name changed
}
jq '.Budget = { "Type": "ConfigurationCount", "BudgetValue": 9 }
    | .KernelSpecification.Arguments[0] |= (del(.DataSource, .FillType) + { "FillValue": 2 })
    | .KernelSpecification.Arguments[1] |= (del(.DataSource) + { "FillType": "Random", "FillValue": 20 })' ktt/axpy.json >ktt/older.json
here import ktt/older.json --name older | tail -n 1
jq -c '[.tensors.x.fill, .tensors.b.fill]' older/template.json
jq -c .budget older.json
change_ktt '.KernelSpecification.Arguments[0].DataSource = "2 * j"'
change_ktt '.KernelSpecification.Arguments[0].DataSource = "[i]"'
change_ktt '.KernelSpecification.Arguments[0] |= (.Type = "int32" | .DataSource = "2.0 ** (i + 20)")'
change_ktt 'del(.KernelSpecification.Arguments[0].DataSource)'
change_ktt '.KernelSpecification.Arguments[0].Type = "half"'
change_ktt '.KernelSpecification.Arguments[0].Size = 100000000'
change_ktt '.KernelSpecification.Arguments[1].DataSource = "none.bin"'
change_ktt '.KernelSpecification.Arguments[1].FillType = "BinaryHDF"'
change_ktt '.KernelSpecification.KernelTypeNames = ["f" * 200]'

# Bad input.
here import plain.json
here import none.json
change() {
    jq "$1" plain.json >changed.json
    here import changed.json --name changed
}
change 'del(.KernelSpecification)'
change 'del(.ConfigurationSpace.TuningParameters)'
change '.KernelSpecification.Language = "OpenCL"'
change '.KernelSpecification.KernelFile = "none.cu"'
change '.ConfigurationSpace.Conditions[0].Expression = "items <"'
change '.ConfigurationSpace.TuningParameters[0].Values = "[]"'
change '.ConfigurationSpace.TuningParameters[0].Values = "range(1000)"'
change '.ConfigurationSpace.TuningParameters[0].Values = "open(1)"'
change '.ConfigurationSpace.TuningParameters[0].Name = "a b"'
change '.KernelSpecification.Arguments[0].Type = "custom"'
change '.KernelSpecification.Arguments[0].Size = "items * 4"'
change '.KernelSpecification.Arguments[0].FillType = "Script"'
change '.KernelSpecification.Arguments = []'
change '.KernelSpecification.GridDivX = ["items ** 0.5"]'
change '.KernelSpecification.SharedMemory = "items ** 0.5"'
here import plain.json --name changed --reference scale.txt
here import plain.json --name 3x
