// The worker's tables in Postgres, as far as its rules use them: checkpoints, follow-ups and new deliveries. The statements are
// recognised by their names; each is one transaction.
import type { Pool } from 'pg'
import { runningProcess } from './scheduler.ts'
import { world } from './simulatedBuiltins.ts'

const kinds = ['finish', 'ask', 'watch', 'expire'] as const
type TimeColumns = Record<`${(typeof kinds)[number]}_at`, Date | null>

export type FollowUpRow = TimeColumns & {
  readonly subject: string
  readonly provider_id: string
  readonly payment_id: string | null
  readonly correlation_id: string
  pauses: number
  version: number
  event_id: string
  lease: string | null
  leased_until: number
}

export type DeliveryRow = {
  readonly id: string
  readonly node: string
  readonly event: string
  readonly source_event_id: string
  readonly body: string
}

type Planned = Record<string, string | boolean | number | null> & { readonly subject: string }
type Values = readonly unknown[]

export type Tables = ReturnType<typeof createSimulatedTables>

/** The rows, and the statements that read and change them. */
function createRows() {
  const checkpoints = new Map<string, { commit: string; prepare: string; eventId: string }>()
  const followUps = new Map<string, FollowUpRow>()
  const deliveries = new Map<string, DeliveryRow>()
  let leases = 0

  function move([name, commit, prepare, eventId, fromCommit, fromEventId]: Values): boolean {
    const known = checkpoints.get(String(name))
    if ((known?.commit ?? null) !== fromCommit || (known?.eventId ?? null) !== fromEventId) return false
    checkpoints.set(String(name), { commit: String(commit), prepare: String(prepare), eventId: String(eventId) })
    return true
  }

  function plan(row: Planned): void {
    const known = followUps.get(row.subject)
    const time = (kind: (typeof kinds)[number]) => {
      if (!row[`sets_${kind}`]) return known?.[`${kind}_at`] ?? null
      const at = row[`${kind}_at`]
      return typeof at === 'string' ? new Date(at) : null
    }
    const times = { finish_at: time('finish'), ask_at: time('ask'), watch_at: time('watch'), expire_at: time('expire') }
    if (Object.values(times).every((at) => at === null)) return void followUps.delete(row.subject)
    const fresh = { ...(row as unknown as FollowUpRow), version: 0, lease: null, leased_until: 0 }
    const { subject, provider_id, payment_id, correlation_id, version, lease, leased_until } = known ?? fresh
    const kept = { subject, provider_id, payment_id, correlation_id, version: version + 1, lease, leased_until }
    followUps.set(subject, { ...kept, ...times, pauses: Number(row.pauses), event_id: String(row.event_id) })
  }

  const held = (subject: unknown, lease: unknown) =>
    [...followUps.values()].filter((row) => row.subject === subject && row.lease === lease)
  const released = (row: FollowUpRow) => Object.assign(row, { lease: null, leased_until: 0 })

  const statements: Record<string, (values: Values) => readonly object[]> = {
    'record-follow-ups'(values) {
      if (!move(values)) return [{ moved: 0 }]
      for (const row of JSON.parse(String(values[7])) as Planned[]) plan(row)
      return [{ moved: 1 }]
    },
    'take-follow-ups'([providerId, at, limit, leaseMs]) {
      const now = Number(at)
      const free = [...followUps.values()].filter(
        (row) => row.provider_id === providerId && dueAt(row) <= now && row.leased_until <= now,
      )
      const taken = free.toSorted((a, b) => dueAt(a) - dueAt(b)).slice(0, Number(limit))
      for (const row of taken) Object.assign(row, { lease: `lease ${++leases}`, leased_until: now + Number(leaseMs) })
      return taken.map((row) => ({ ...row }))
    },
    'end-follow-up': ([subject, lease, version]) =>
      held(subject, lease).flatMap((row) => (row.version === version && followUps.delete(row.subject) ? [row] : [])),
    'release-follow-up': ([subject, lease]) => held(subject, lease).map(released),
    'return-follow-up': ([subject, lease, version, finish_at, ask_at, watch_at, pauses, expire_at]) =>
      held(subject, lease).map((row) => {
        const next = { finish_at, ask_at, watch_at, expire_at, pauses }
        return released(row.version === version ? Object.assign(row, next) : row)
      }),
    'record-deliveries'(values) {
      if (!move(values)) return [{ moved: 0 }]
      const rows = JSON.parse(String(values[7])) as DeliveryRow[]
      const fresh = rows.filter(({ id }) => !deliveries.has(id))
      for (const row of fresh) deliveries.set(row.id, row)
      return [{ moved: 1, inserted: Object.fromEntries(fresh.map(({ id }) => [id, false])) }]
    },
    checkpoint([name]) {
      const known = checkpoints.get(String(name))
      if (known === undefined) return []
      const { commit, prepare, eventId } = known
      return [{ commit_position: BigInt(commit), prepare_position: BigInt(prepare), event_id: eventId }]
    },
  }
  return { statements, followUps, deliveries }
}

/** Survives the processes. */
export function createSimulatedTables() {
  const { statements, followUps, deliveries } = createRows()
  const watchers = new Set<() => void>()

  async function query(statement: string | { readonly name: string; readonly values: Values }, given: Values = []) {
    const { name, values } = typeof statement === 'string' ? { name: 'checkpoint', values: given } : statement
    const execute = statements[name.replace(/-\d{4}-\d\d-\d\d$/, '')]
    if (execute === undefined) throw new Error(`the simulation has no statement ${name}`)
    const owner = runningProcess()
    const what = `${owner?.name} asks Postgres to ${name}`
    return await new Promise((resolve, reject) => {
      const run = () => {
        const fault = world().fault(what, ['Postgres is not reached', 'the response of Postgres is lost'], 15)
        const rows = fault === 'Postgres is not reached' ? [] : execute(values)
        world().states.changed('tables', what + JSON.stringify(values))
        for (const changed of watchers) changed()
        const end =
          fault === undefined ? () => resolve({ rows, rowCount: rows.length }) : () => reject(new Error(fault))
        world().send(`response to: ${what}`, owner, end)
      }
      world().add({ what, owner, on: 'tables', isRead: false, run })
    })
  }

  return {
    pool: { query } as unknown as Pool,
    followUps: followUps as ReadonlyMap<string, FollowUpRow>,
    deliveries: deliveries as ReadonlyMap<string, DeliveryRow>,
    /** When the next follow-up may be taken, in ms; Infinity when there is none. */
    nextDue: () => Math.min(...[...followUps.values()].map((row) => Math.max(dueAt(row), row.leased_until))),
    /** @returns a function that ends the calls */
    watch(changed: () => void): () => void {
      watchers.add(changed)
      return () => void watchers.delete(changed)
    },
  }
}

const dueAt = (row: TimeColumns) => Math.min(...kinds.map((kind) => row[`${kind}_at`]?.getTime() ?? Infinity))
