#!/bin/bash
# Workers on a Slurm cluster, one an array task, each on whole GPUs; they leave ten minutes after the last trial:
#   sbatch --array=1-16 configs/queue/slurm-workers.sh tls://head:4222
# Below stand nodes of 8 GPUs and 64 cores: put right what yours have.
#SBATCH --job-name=evotile
#SBATCH --gpus-per-task=8
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=64
#SBATCH --exclusive
#SBATCH --time=12:00:00
#SBATCH --signal=B:TERM@60
#SBATCH --requeue
set -eu
queue=${1:?the address of the queue: tls://HOST:4222}
# Slurm tells the batch shell; the worker gives back what it has not done.
trap 'kill -TERM $!' TERM
srun --kill-on-bad-exit=0 evotile worker --queue "$queue" --device cuda:all --idle 10m \
    --ca "${EVOTILE_CA:-$HOME/.evotile/cert.pem}" \
    --credentials "${EVOTILE_CREDENTIALS:-$HOME/.evotile/worker.credentials}" &
wait $! || wait $!
