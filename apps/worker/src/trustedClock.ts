// Compares the local clock with others before it decides something that cannot be undone: the event store's, the database's,
// and the providers'.
import { randomUUIDv7 } from 'node:crypto'
import { clockFold } from '@paylog/domain/clock'
import { type EventStore, newStream } from '@paylog/event-store/eventStore'
import { clockStream } from '@paylog/event-store/streamName'
import type { Provider } from '@paylog/providers/provider'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'

const maxDifferenceMs = 60_000
/** How long the result of a comparison holds, and so the longest wait after clocks agree again. */
const defaultHoldsForMs = 10_000
/** A clock that was set meanwhile has to be compared again. */
const maxStepMs = 1_000

export type TrustedClock = {
  /**
   * Whether the local clock is within a minute of the others. One that cannot be asked counts as different.
   * @param provider whose clock has to agree as well; without it those of all providers that can be asked
   */
  agrees(provider?: Provider): Promise<boolean>
  /** Whether the latest comparison for a provider found a difference, and it is too early for the next one. */
  isWaiting(provider: Provider): boolean
  /** The clocks that differed in the latest comparisons, or could not be asked. */
  differing(): readonly string[]
}

/** The time of another clock; undefined when it need not agree. */
type OtherClock = { readonly name: string; readonly read: () => Promise<Date | undefined> }

type Compared = { readonly differing: readonly string[]; readonly at: number; readonly offsetMs: number }

export function createTrustedClock(deps: {
  readonly pool: Pool
  readonly store: Pick<EventStore, 'handle' | 'headTime' | 'readStream'>
  readonly providers: ReadonlyMap<string, Provider>
  readonly now: () => Date
  readonly log: Pick<Logger, 'info' | 'warn'>
  /** For tests. */
  readonly holdsForMs?: number
}): TrustedClock {
  const { pool, store, providers, now, log, holdsForMs = defaultHoldsForMs } = deps
  const results = new Map<string, Compared>()
  const comparing = new Map<string, Promise<Compared>>()
  const offset = () => now().getTime() - performance.now()
  const isRecent = ({ at, offsetMs }: Compared) =>
    performance.now() - at < holdsForMs && Math.abs(offset() - offsetMs) < maxStepMs

  /** In an idle system the newest event is old, so another one is recorded. */
  async function readLogTime(): Promise<Date | undefined> {
    const newest = await store.headTime()
    if (newest && Math.abs(now().getTime() - newest.getTime()) <= maxDifferenceMs) return newest
    const id = randomUUIDv7()
    await store.handle({
      stream: clockStream(id),
      fold: clockFold,
      decide: () => [{ type: 'ClockCompared', data: { occurred_at: now().toISOString() } }],
      metadata: { correlationId: id, causationId: id, actor: 'worker' },
      assumed: newStream(clockFold),
    })
    return (await store.readStream(clockStream(id)))[0]?.created
  }

  async function readDatabaseTime(): Promise<Date | undefined> {
    return (await pool.query<{ time: Date }>('select clock_timestamp() as time')).rows[0]?.time
  }

  function clocksFor(provider: Provider | undefined): readonly OtherClock[] {
    const asked = provider ? [provider] : [...providers.values()]
    return [
      { name: 'event store', read: readLogTime },
      { name: 'database', read: readDatabaseTime },
      ...asked.map(({ id, readTime }) => ({
        name: id,
        read: async () => await readTime?.().catch((error: unknown) => (provider ? Promise.reject(error) : undefined)),
      })),
    ]
  }

  async function differs({ name, read }: OtherClock): Promise<readonly string[]> {
    try {
      const time = await read()
      const differenceMs = time === undefined ? 0 : now().getTime() - time.getTime()
      if (Math.abs(differenceMs) <= maxDifferenceMs) return []
      log.warn(
        { clock: name, ahead_seconds: Math.round(differenceMs / 1_000) },
        'the local clock differs from another: nothing expires and nothing is removed until they agree',
      )
    } catch (error) {
      log.warn(
        { err: error, clock: name },
        'a clock cannot be compared: nothing expires and nothing is removed until it can',
      )
    }
    return [name]
  }

  async function compare(key: string, provider: Provider | undefined): Promise<Compared> {
    const before = results.get(key)
    const differing = (await Promise.all(clocksFor(provider).map(differs))).flat()
    if (before && before.differing.length > 0 && differing.length === 0) log.info({}, 'the clocks agree again')
    const compared = { differing, at: performance.now(), offsetMs: offset() }
    results.set(key, compared)
    return compared
  }

  const keyOf = (provider: Provider | undefined) => provider?.id ?? ''
  return {
    async agrees(provider) {
      const key = keyOf(provider)
      const last = results.get(key)
      if (last && isRecent(last)) return last.differing.length === 0
      const comparison = comparing.get(key) ?? compare(key, provider).finally(() => comparing.delete(key))
      comparing.set(key, comparison)
      return (await comparison).differing.length === 0
    },
    isWaiting(provider) {
      const last = results.get(keyOf(provider))
      return last !== undefined && last.differing.length > 0 && isRecent(last)
    },
    differing: () => [...new Set([...results.values()].flatMap(({ differing }) => differing))],
  }
}
