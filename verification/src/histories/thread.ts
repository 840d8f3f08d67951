// A thread that simulates. The clocks, timers and random numbers of the whole thread are replaced, so it does nothing else.
import { parentPort, workerData } from 'node:worker_threads'
import type { ThreadData } from './job.ts'
import { addHistory, noProgress } from './report.ts'
import { installSimulatedBuiltins, world } from './simulatedBuiltins.ts'
import { installSimulatedNetwork } from './simulatedNetwork.ts'

const realNow = Date.now
const reportMs = 1_000
const { job, faults }: ThreadData = workerData
if (faults.length > 0) (await import('./plantedFaults.ts')).plant(faults)
installSimulatedNetwork()
installSimulatedBuiltins()
const { runFailing, runRaces } = await import('./jobs.ts')
process.on('unhandledRejection', (error) => void world().problems.push(`unhandled: ${error}`))
Error.stackTraceLimit = 0
let progress = noProgress()
let reportedAt = realNow()
const report = (isLast: boolean) => {
  if (!isLast && realNow() - reportedAt < reportMs) return
  parentPort?.postMessage({ progress, isLast })
  progress = noProgress()
  reportedAt = realNow()
}
let failures = 0
const isOver = () => realNow() > job.deadline || failures >= job.maxFailures

if (job.kind === 'histories')
  for (let index = job.thread; index < job.count && !isOver(); index += job.threads) {
    const { result, failure } = await runFailing(job.seed + index)
    if (result) addHistory(progress, result)
    failures += failure ? progress.failures.push(failure) && 1 : 0
    report(false)
  }
else for await (const raced of runRaces(job, isOver)) report(raced(progress))
report(true)
