// Power failures under load. Each one continues with what the one before has left, as a machine does.
import { setTimeout as pause } from 'node:timers/promises'
import { createRandom } from '../campaign/random.ts'
import { type Load, startLoad } from './load.ts'
import { type Machine, startMachine } from './machine.ts'
import { createRecoveredLog, query } from './recovered.ts'

const pollMs = 500
/** For lists and webhooks, at the end. */
const settleTimeoutMs = 120_000

/**
 * @param stack ends what it starts
 * @param options `isDurable` false turns fsync off; `interruption` ends the run after the failure under way
 * @param report called after each failure
 * @returns figures, the times in ms from power on for each failure, and what was wrong. It ends with the first failure that
 *   has lost something, because that would be missing ever after
 */
export async function runPowerFailures(
  stack: AsyncDisposableStack,
  options: {
    readonly failures: number
    readonly isDurable: boolean
    readonly seed: number
    readonly interruption: AbortSignal
  },
  report: (failure: number) => void,
) {
  const { failures, isDurable, seed, interruption } = options
  const random = createRandom(seed, 'power failures')
  const machine = await startMachine(stack, isDurable)
  const load = await startLoad(stack, machine)
  const log = createRecoveredLog()
  const [violations, postgresMs, serviceMs]: [string[], number[], number[]] = [[], [], []]
  await machine.sync()
  let checked = 0
  for (let failure = 1; failure <= failures && violations.length === 0 && !interruption.aborted; failure++) {
    await load.untilAcknowledged(random.between(20, 120))
    await pause(random.between(0, 200))
    await machine.losePower()
    try {
      const recoveredMs = await machine.powerOn()
      postgresMs.push(recoveredMs)
      const acknowledged = load.acknowledged.slice(checked)
      checked += acknowledged.length
      violations.push(...(await log.read(machine.logUrl, acknowledged)), ...(await log.compare(machine.tablesUrl)))
      const from = performance.now()
      await machine.startEventStore()
      await load.untilPaid()
      serviceMs.push(recoveredMs + performance.now() - from)
    } catch (error) {
      violations.push(`the system does not come back: ${String(error)}`)
    }
    report(failure)
  }
  await load.stop()
  const whole = createRecoveredLog()
  if (violations.length === 0 && !interruption.aborted) {
    violations.push(...(await missingAtEnd(machine, load)), ...(await load.verify()))
    violations.push(
      ...(await whole.read(machine.logUrl, load.acknowledged)),
      ...(await whole.compare(machine.tablesUrl)),
    )
  }
  return {
    load,
    postgresMs,
    serviceMs,
    violations,
    events: whole.events || log.events,
    recovered: whole.found || log.found,
  }
}

/** What has not arrived in the lists and at the endpoint although nothing fails any more. */
async function missingAtEnd({ tablesUrl }: Machine, { payments, notified }: Load): Promise<string[]> {
  for (const deadline = performance.now() + settleTimeoutMs; ; await pause(pollMs)) {
    const listed = await query(tablesUrl, 'select id from read_models.payments where id = any($1)', [payments])
    const places = { 'in the list': new Set(listed.map(({ id }) => id)), 'at the webhook endpoint': notified() }
    const missing = Object.entries(places).flatMap(([place, ids]) =>
      payments.filter((id) => !ids.has(id)).map((id) => `the payment ${id} is not ${place}`),
    )
    if (missing.length === 0 || performance.now() > deadline) return missing
  }
}
