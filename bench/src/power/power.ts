// Power failures under load. Each one continues with what the one before has left, as a machine does.
import { setTimeout as pause } from 'node:timers/promises'
import { createRandom } from '../campaign/random.ts'
import { type Load, startLoad } from './load.ts'
import { type Machine, startMachine } from './machine.ts'
import { createRecoveredLog, query } from './recovered.ts'

export type PowerRun = {
  readonly failures: number
  readonly acknowledged: number
  readonly payments: number
  readonly recovered: number
  readonly events: number
  readonly webhooks: number
  /** For each failure, from power on. */
  readonly postgresMs: readonly number[]
  readonly serviceMs: readonly number[]
  readonly violations: readonly string[]
}

export type PowerOptions = { readonly failures: number; readonly isDurable: boolean; readonly seed: number }

const pollMs = 500
/** For lists and webhooks, at the end. */
const settleTimeoutMs = 120_000

/** @param report called after each failure */
export async function runPowerFailures(
  stack: AsyncDisposableStack,
  { failures, isDurable, seed }: PowerOptions,
  report: (failure: number) => void,
): Promise<PowerRun> {
  const random = createRandom(seed, 'power failures')
  const machine = await startMachine(stack, isDurable)
  const load = await startLoad(stack, machine)
  const log = createRecoveredLog()
  const [violations, postgresMs, serviceMs]: [string[], number[], number[]] = [[], [], []]
  await machine.sync()
  let checked = 0
  const examine = async (when: string) => {
    const wrong = await log.read(machine.logUrl, load.acknowledged.slice(checked))
    checked = load.acknowledged.length
    violations.push(...[...wrong, ...(await log.compare(machine.tablesUrl))].map((what) => `${when}: ${what}`))
  }
  for (let failure = 1; failure <= failures; failure++) {
    await load.untilAcknowledged(random.between(20, 120))
    await pause(random.between(0, 200))
    await machine.losePower()
    try {
      const recovered = await machine.powerOn()
      postgresMs.push(recovered)
      await examine(`failure ${failure}`)
      const from = performance.now()
      await machine.startEventStore()
      await load.untilPaid()
      serviceMs.push(recovered + performance.now() - from)
    } catch (error) {
      violations.push(`failure ${failure}: the machine does not start again: ${String(error)}`)
    }
    report(failure)
    // What has lost something once goes on losing it.
    if (violations.length > 0) break
  }
  await load.stop()
  if (violations.length === 0) {
    await examine('at the end')
    violations.push(...(await missingAtEnd(machine, load)), ...(await load.verify()))
  }
  const { events, found } = log
  const acknowledged = load.acknowledged.length
  const figures = {
    acknowledged,
    payments: load.payments.length,
    recovered: found,
    events,
    webhooks: load.notified().size,
  }
  return { failures: postgresMs.length, ...figures, postgresMs, serviceMs, violations }
}

/** What has not arrived in the lists and at the endpoint although nothing fails any more. */
async function missingAtEnd(machine: Machine, { payments, notified }: Load): Promise<string[]> {
  const deadline = performance.now() + settleTimeoutMs
  for (;;) {
    const listed = await query(machine.tablesUrl, 'select id from read_models.payments where id = any($1)', [payments])
    const ids = new Set(listed.map(({ id }) => id))
    const webhooks = notified()
    const missing = payments.flatMap((id) => [
      ...(ids.has(id) ? [] : [`the payment ${id} is not in the list`]),
      ...(webhooks.has(id) ? [] : [`the payment ${id} has sent no webhook`]),
    ])
    if (missing.length === 0 || performance.now() > deadline) return missing
    await pause(pollMs)
  }
}
