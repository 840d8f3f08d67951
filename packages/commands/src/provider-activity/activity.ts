// What the providers did and refused lately, durably and in a few rows: from every process that calls them or hears from them.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Queryable } from '@paylog/runtime/postgres/runQuery'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { ProviderCallEnd } from '../provider-calls/telemetry.ts'

/** Records what one process sees. No function waits or throws. */
export type ActivityRecorder = {
  /** A notification was accepted. @param type in the provider's words */
  notified(provider: string, type: string): void
  /** A notification was refused, because its signature is missing or wrong. */
  refusedSignature(provider: string): void
  /** A call has ended, which may show whether the provider accepts our credentials. */
  called(end: Pick<ProviderCallEnd, 'provider' | 'credentials'>): void
  /** Writes what is not written yet. */
  close(): Promise<void>
}

/** What was seen of a provider since the last write. */
type Seen = {
  readonly notified?: { readonly at: Date; readonly type: string }
  readonly accepted_at?: Date
  readonly refused?: { readonly at: Date; readonly because: string }
  readonly signature_refused_at?: Date
  /** Refused signatures since the last accepted notification. */
  readonly signatures_refused: number
  /** Refused signatures by the minute, in minutes since 1970. */
  readonly minutes: ReadonlyMap<number, number>
}

/**
 * Writes at once what it sees after a pause, and then at most every `pauseMs` what came together: somebody who sends any number of
 * notifications causes no more.
 */
export function createActivityRecorder({
  db,
  now,
  log,
  pauseMs = 5_000,
}: {
  readonly db: Queryable
  readonly now: () => Date
  readonly log: Pick<Logger, 'warn'>
  readonly pauseMs?: number
}): ActivityRecorder {
  let pending = new Map<string, Seen>()
  let running: Promise<void> | undefined
  const closing = new AbortController()

  async function write(): Promise<void> {
    const taken = pending
    pending = new Map()
    try {
      await writeActivity(db, taken)
    } catch (err) {
      log.warn({ err }, 'what providers did could not be recorded, trying again')
      for (const [provider, seen] of pending) taken.set(provider, together(taken.get(provider), seen))
      pending = taken
    }
  }
  async function run(): Promise<void> {
    while (pending.size > 0 && !closing.signal.aborted) {
      await write()
      await sleep(pauseMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined)
    }
  }
  function see(provider: string, seen: Partial<Seen>): void {
    pending.set(provider, together(pending.get(provider), { ...nothing, ...seen }))
    running ??= run().finally(() => {
      running = undefined
    })
  }

  return {
    notified: (provider, type) => see(provider, { notified: { at: now(), type } }),
    refusedSignature(provider) {
      const at = now()
      see(provider, { signature_refused_at: at, signatures_refused: 1, minutes: new Map([[minuteOf(at), 1]]) })
    },
    called({ provider, credentials }) {
      if (credentials === undefined) return
      const at = now()
      if (credentials === 'accepted') see(provider, { accepted_at: at })
      else see(provider, { refused: { at, because: credentials.refusal } })
    },
    async close() {
      closing.abort()
      await running
      if (pending.size > 0) await write()
    },
  }
}

const nothing: Seen = { signatures_refused: 0, minutes: new Map() }

const minuteOf = (time: Date) => Math.floor(time.getTime() / 60_000)

/** What was seen earlier, and then. An accepted notification ends a series of refused ones. */
function together(earlier: Seen = nothing, then: Seen): Seen {
  const minutes = new Map(earlier.minutes)
  for (const [minute, count] of then.minutes) minutes.set(minute, (minutes.get(minute) ?? 0) + count)
  const before = then.notified === undefined ? earlier.signatures_refused : 0
  return { ...earlier, ...then, minutes, signatures_refused: before + then.signatures_refused }
}

async function writeActivity(db: Queryable, all: ReadonlyMap<string, Seen>): Promise<void> {
  const activity = [...all].map(([provider_id, { notified, accepted_at, refused, minutes, ...seen }]) => ({
    ...{ provider_id, notified_at: notified?.at, notified_type: notified?.type, credentials_accepted_at: accepted_at },
    ...{ credentials_refused_at: refused?.at, credentials_refusal: refused?.because, ...seen },
    minutes: [...minutes].map(([minute, count]) => ({ minute, count })),
  }))
  await db.query({ name: 'record provider activity', text: writeSql, values: [JSON.stringify(activity)] })
}

// Several processes write: the later time wins.
const writeSql = `
with seen as (
  select * from jsonb_to_recordset($1::jsonb) as seen (provider_id text, notified_at timestamptz, notified_type text,
    signature_refused_at timestamptz, signatures_refused bigint, credentials_accepted_at timestamptz,
    credentials_refused_at timestamptz, credentials_refusal text, minutes jsonb)
), counted as (
  insert into providers.refused_signatures as present (provider_id, slot, minute, count)
  select provider_id, minute % 1440, to_timestamp(minute * 60), count
  from seen, jsonb_to_recordset(minutes) as refused (minute bigint, count bigint)
  order by provider_id, minute
  on conflict (provider_id, slot) do update set minute = excluded.minute,
    count = excluded.count + case when present.minute = excluded.minute then present.count else 0 end
  where present.minute <= excluded.minute
)
insert into providers.activity as present (provider_id, notified_at, notified_type, signature_refused_at, signatures_refused,
  credentials_accepted_at, credentials_refused_at, credentials_refusal)
select provider_id, notified_at, notified_type, signature_refused_at, signatures_refused, credentials_accepted_at,
  credentials_refused_at, credentials_refusal
from seen order by provider_id
on conflict (provider_id) do update set
  notified_type = case when excluded.notified_at >= coalesce(present.notified_at, '-infinity') then excluded.notified_type
    else present.notified_type end,
  notified_at = greatest(present.notified_at, excluded.notified_at),
  signature_refused_at = greatest(present.signature_refused_at, excluded.signature_refused_at),
  signatures_refused = excluded.signatures_refused
    + case when excluded.notified_at is null then present.signatures_refused else 0 end,
  credentials_accepted_at = greatest(present.credentials_accepted_at, excluded.credentials_accepted_at),
  credentials_refusal = case when excluded.credentials_refused_at >= coalesce(present.credentials_refused_at, '-infinity')
    then excluded.credentials_refusal else present.credentials_refusal end,
  credentials_refused_at = greatest(present.credentials_refused_at, excluded.credentials_refused_at)`

/** The stored activity of a provider. */
export type StoredActivity = {
  readonly provider_id: string
  /** Since when it is recorded. */
  readonly watched_since: Date
  readonly notified_at: Date | null
  readonly notified_type: string | null
  readonly signature_refused_at: Date | null
  /** Since the last accepted notification. */
  readonly signatures_refused: number
  /** In the last 24 hours. */
  readonly signatures_refused_lately: number
  readonly credentials_accepted_at: Date | null
  readonly credentials_refused_at: Date | null
  readonly credentials_refusal: string | null
}

/** The activity of all providers of which anything was recorded. @throws errors of Postgres */
export async function readActivity(db: Queryable): Promise<StoredActivity[]> {
  const { rows } = await db.query<StoredActivity>({ name: 'provider activity', text: readSql })
  return rows
}

const readSql = `
select provider_id, watched_since, notified_at, notified_type, signature_refused_at, signatures_refused::float8,
  (select coalesce(sum(count), 0)::float8 from providers.refused_signatures as refused
    where refused.provider_id = activity.provider_id and minute > now() - interval '24 hours') as signatures_refused_lately,
  credentials_accepted_at, credentials_refused_at, credentials_refusal
from providers.activity order by provider_id`

/** Whether the provider refused our credentials, and has not accepted any since. */
export const areCredentialsRefused = ({ credentials_refused_at, credentials_accepted_at }: StoredActivity): boolean =>
  credentials_refused_at !== null &&
  (credentials_accepted_at === null || credentials_accepted_at < credentials_refused_at)
