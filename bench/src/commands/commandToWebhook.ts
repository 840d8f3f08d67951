// Measures the time from the response of a command to its webhook, at a fifth of the maximum load.

import { withoutLimits } from '@paylog/testing/processes'
import { type BenchmarkOptions, type BenchmarkRow, formatNumber, measureRate, quantile } from '../harness/benchmark.ts'
import { arrivals } from '../harness/load.ts'
import { openEndpoint, startPrivateSystem } from '../harness/privateSystem.ts'
import { openPayment, postBare } from './payments.ts'

const inFlight = 16
const load = 0.2
const timeoutMs = 60_000
const targets = { p50: 10, p99: 40 }

/** Durations in milliseconds. */
const full = { warmUp: 4_000, full: 6_000, paced: 20_000, bare: 5_000 }
const quick: typeof full = { warmUp: 1_000, full: 2_000, paced: 3_000, bare: 1_000 }

/**
 * Starts a private system, measures how many payments a second it accepts, then opens a fifth as many.
 * @param servers for the system: `REDIS_URL`
 */
export async function measureCommandToWebhook(
  { isQuick, print }: BenchmarkOptions,
  servers: Readonly<Record<string, string>>,
): Promise<BenchmarkRow[]> {
  await using stack = new AsyncDisposableStack()
  const times = isQuick ? quick : full
  const endpoint = await openEndpoint(stack)
  const settings = { ...withoutLimits, ...endpoint.settings, ...servers, LOG_LEVEL: 'warn' }
  const { base_url } = await startPrivateSystem(stack, settings)
  const arrived = (count: number) => endpoint.received(count, AbortSignal.timeout(timeoutMs))
  const open = (durationMs: number) => measureRate(() => openPayment(base_url), { inFlight, durationMs })
  const warmUp = await open(times.warmUp)
  const atFullLoad = await open(times.full)
  const before = warmUp.times.length + atFullLoad.times.length
  await arrived(before)
  const perSecond = atFullLoad.perSecond * load
  const respondedAt = new Map<string, number>()
  await atRandomTimes(perSecond, times.paced, async () => {
    respondedAt.set(await openPayment(base_url), performance.now())
  })
  const webhooks = await arrived(before + respondedAt.size)
  const waits = webhooks.flatMap(({ paymentId, at }) => {
    const since = respondedAt.get(paymentId)
    return since === undefined ? [] : [Math.max(0, at - since)]
  })
  const bare: number[] = []
  await atRandomTimes(perSecond, times.bare, async () => void bare.push(await postBare(endpoint)))
  print(`${formatNumber(perSecond)} payments a second, ${waits.length} of them`)
  const row = (name: 'p50' | 'p99', q: number): BenchmarkRow => ({
    name: `from the response of a POST to its webhook, at a fifth of the load, ${name}`,
    figure: quantile(waits, q),
    unit: 'ms',
    bound: { name: 'a bare POST to the same endpoint', figure: quantile(bare, q) },
    target: { of: 'figure', atMost: targets[name] },
  })
  const opening = 'payments created while they are projected and delivered, 16 in flight'
  return [row('p50', 0.5), row('p99', 0.99), { name: opening, figure: atFullLoad.perSecond, unit: '/s' }]
}

/** Runs work at random times, as many independent clients would, and waits for all of it. */
async function atRandomTimes(perSecond: number, durationMs: number, work: () => Promise<void>): Promise<void> {
  const pending: Promise<void>[] = []
  for await (const _ of arrivals(perSecond, performance.now() + durationMs, Math.random)) pending.push(work())
  await Promise.all(pending)
}
