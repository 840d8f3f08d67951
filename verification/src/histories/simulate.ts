// Divides the work of a simulation among threads, and adds up what they found.
import { Worker } from 'node:worker_threads'
import type { Job, PlantedFault, ThreadData } from './job.ts'
import { addProgress, noProgress, type Progress } from './report.ts'

export type Simulation = Omit<Job, 'thread' | 'threads'> & { readonly threads: number }

/**
 * @param onProgress called about once a second
 * @param faults planted into the product
 * @throws when a thread fails
 */
export async function simulate(
  { threads, ...job }: Simulation,
  {
    onProgress = () => {},
    faults = [],
  }: { onProgress?: (sum: Progress) => void; faults?: readonly PlantedFault[] } = {},
): Promise<Progress> {
  const sum = noProgress()
  const add = (more: Progress) => {
    addProgress(sum, more)
    onProgress(sum)
  }
  const started = Array.from({ length: threads }, (_, thread) =>
    runThread({ job: { ...job, thread, threads }, faults }, add),
  )
  await Promise.all(started)
  return sum
}

function runThread(workerData: ThreadData, add: (more: Progress) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./thread.ts', import.meta.url), { workerData })
    worker.on('message', ({ progress, isLast }: { progress: Progress; isLast: boolean }) => {
      add(progress)
      if (!isLast) return
      resolve()
      void worker.terminate()
    })
    worker.on('error', reject)
    worker.on('exit', () => reject(new Error('a simulating thread ended too early')))
  })
}
