// Simulates payments: `npm run campaign -- histories`. Exit code 1 when a violation was found.
import { randomInt } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { addProgress, noProgress, type Progress, reportOf } from './report.ts'
import { simulate } from './simulate.ts'

const usage = `Usage: npm run campaign -- histories [--seed N] [--histories N] [--minutes N] [--races N] [--orders N] [--only TEXT]
       npm run campaign -- histories --replay SEED
  Runs the workflows, the rules of the worker and the provider adapters on simulated time, with a simulated log and network:
  first every order of the steps of concurrent operations on one payment, then random histories with faults.
  --seed       of the first history, default random; the others have the following numbers
  --histories  default 100,000
  --minutes    stop after this time, default 30
  --races      how many operations race at most: 0, 2 or 3, default 2
  --orders     at most this many orders of one race, default 2,000
  --only       only races whose name has this text, such as 'stripe, paid'
  --threads    default: one for each core
  --replay     runs the history of one seed, and prints its story if it fails`

const maxFailures = 10
const most = 2 ** 31
const options = readOptions()
if (options === undefined) {
  process.stderr.write(`${usage}\n`)
  process.exit(2)
}
const startedAt = performance.now()
const { seed, histories, minutes, races, maxOrders, threads, only } = options
process.stdout.write(`seed ${seed}\n`)
const deadline = Date.now() + minutes * 60_000
const sum = noProgress()
const common = { seed, threads, deadline, maxOrders, maxFailures, only }
const onProgress = (progress: Progress) => {
  if (!process.stdout.isTTY) return
  const { histories: done, orders, failures } = progress
  process.stdout.write(`\r${done} histories, ${orders} orders of steps, ${failures.length} violations `)
}
for (let count = 2; count <= races; count++)
  addProgress(sum, await simulate({ ...common, kind: 'races', count }, { onProgress }))
if (histories > 0) addProgress(sum, await simulate({ ...common, kind: 'histories', count: histories }, { onProgress }))
process.stdout.write(`\n${reportOf(sum, performance.now() - startedAt)}\n`)
process.exitCode = sum.failures.length > 0 ? 1 : 0

function readOptions() {
  try {
    const text = { type: 'string' } as const
    const given = parseArgs({
      allowPositionals: true,
      options: {
        seed: text,
        histories: text,
        minutes: text,
        races: text,
        orders: text,
        threads: text,
        replay: text,
        only: text,
      },
    }).values
    const isReplay = given.replay !== undefined
    const numbers = {
      seed: Number(given.replay ?? given.seed ?? randomInt(most)),
      histories: isReplay ? 1 : Number(given.histories ?? 100_000),
      minutes: Number(given.minutes ?? 30),
      races: isReplay ? 0 : Number(given.races ?? 2),
      maxOrders: Number(given.orders ?? 2_000),
      threads: isReplay ? 1 : Number(given.threads ?? availableParallelism()),
    }
    const { minutes: limit, ...whole } = numbers
    const isValid = limit > 0 && Object.values(whole).every((number) => Number.isSafeInteger(number) && number >= 0)
    return isValid && numbers.threads > 0 ? { ...numbers, only: given.only ?? '' } : undefined
  } catch {
    return undefined
  }
}
