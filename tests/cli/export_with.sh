# Exports for frameworks and of several architectures: what is refused, and what replay and gate then read.
. "$ROOT/tests/cli/tell"
small c.json
sed 's/sm_89/sm_90/' c.json >d.json
"$EVOTILE" run c.json --out r89 >/dev/null 2>&1
"$EVOTILE" run d.json --out r90 >/dev/null 2>&1

tell export r89 --with numpy --out x
tell export r89 --with torch, --out x
tell export r89 r90 --trial 1 --out x
tell export r89 r89 --out x
ls -d x 2>/dev/null

"$EVOTILE" export r89 r90 --with torch,jax --out both >/dev/null 2>&1
ls both both/sm_90
tell export r90 r89 --out both
tell replay both
tell gate both/sm_90 --against both
"$EVOTILE" replay both/sm_90 >/dev/null 2>&1
echo "one architecture: status $?"

# All that is linked together counts, whichever architecture is named.
echo '#' >>both/both.c
echo '#' >>both/sm_89/kernel.cu
tell replay both/sm_90

# What Python imports beside the module counts as what gets linked does.
"$EVOTILE" export r89 --with torch --out one >/dev/null 2>&1
echo 'int64 = None' >one/torch.py
sed -i 's/_ceil_div/_floor_div/' one/one.py
echo '#' >>one/CMakeLists.txt
tell replay one

# A wheel is built by make, in the exported folder, which stays.
mkdir failing && printf '#!/bin/sh\nexit 2\n' >failing/make && chmod +x failing/make
PATH=$PWD/failing:$PATH tell export r89 --with torch --wheel --out wheel
ls wheel | grep -c .
PATH=$PWD/nothing tell export r89 --with torch --wheel --out other
