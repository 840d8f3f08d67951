// What must be on the disks after a power failure: every acknowledged append, once, and nothing that goes beyond the log.
import pg from 'pg'

/** Where an event is. */
type Place = { readonly stream: string; readonly revision: string; readonly position: string }
/** An append that was acknowledged. A client of the API knows the stream only. */
export type Acknowledged = Pick<Place, 'stream'> & { readonly event?: Place & { readonly id: string } }

export type RecoveredLog = {
  /** Reads what was added since the last call. @returns what is wrong in it, and with these appends */
  read(logUrl: string, acknowledged: readonly Acknowledged[]): Promise<string[]>
  /** What is in Postgres and ahead of the log, and keys that the log needs. */
  compare(tablesUrl: string): Promise<string[]>
  readonly events: number
  /** How many of the appends were found. */
  readonly found: number
}

export function createRecoveredLog(): RecoveredLog {
  const events = new Map<string, Place>()
  const revisions = new Map<string, bigint>()
  const keys = new Set<string>()
  let last = '0'
  let found = 0

  function add(row: Record<'position' | 'stream' | 'revision' | 'event_id' | 'data', string>): string[] {
    const { position, stream, revision, event_id, data } = row
    const wrong: string[] = []
    const expected = (revisions.get(stream) ?? -1n) + 1n
    if (BigInt(revision) !== expected) wrong.push(`${stream} has ${revision} where ${expected} should be`)
    if (events.has(event_id)) wrong.push(`the event ${event_id} is there twice, again in ${stream}@${revision}`)
    events.set(event_id, { stream, revision, position })
    revisions.set(stream, BigInt(revision))
    for (const [, list = ''] of data.matchAll(/"keys":\[([^\]]*)\]/g))
      for (const [id] of list.matchAll(/[0-9a-f-]{36}/g)) keys.add(id)
    last = position
    return wrong
  }

  function isThere({ stream, event }: Acknowledged): boolean {
    const place = event && events.get(event.id)
    return event ? place?.revision === event.revision && place.position === event.position : revisions.has(stream)
  }

  return {
    async read(logUrl, acknowledged) {
      const [{ count = '0' } = {}] = await query(
        logUrl,
        'select count(*) from event_store.events where position <= $1',
        [last],
      )
      const wrong =
        Number(count) === events.size ? [] : [`${count} of ${events.size} events are left up to position ${last}`]
      const added = await query(
        logUrl,
        `select position::text, stream, revision::text, event_id, convert_from(data, 'UTF8') as data
         from event_store.events where position > $1 order by events.position`,
        [last],
      )
      for (const row of added) wrong.push(...add(row as Parameters<typeof add>[0]))
      for (const append of acknowledged) {
        if (isThere(append)) found++
        else wrong.push(`acknowledged, but not there: ${JSON.stringify(append)}`)
      }
      return wrong
    },
    async compare(tablesUrl) {
      const checkpoints = await query(
        tablesUrl,
        `select name, commit_position::text as position, event_id from read_models.checkpoints
         union all select name, commit_position::text, event_id from webhooks.checkpoints
         union all select 'audit log', commit_position::text, event_id from audit.tree`,
      )
      const deliveries = await query(tablesUrl, 'select distinct source_event_id as id from webhooks.all_deliveries')
      const missing = await query(
        tablesUrl,
        `select id from unnest($1::uuid[]) id
         where not exists (select from privacy.keys where keys.id = id.id and wrapped is not null)`,
        [[...keys]],
      )
      return [
        ...checkpoints
          .filter(({ event_id, position }) => event_id && events.get(event_id)?.position !== position)
          .map(
            ({ name, position }) =>
              `the checkpoint of ${name} is at ${position}, where the log has another event or none`,
          ),
        ...deliveries
          .filter(({ id = '' }) => !events.has(id))
          .map(({ id }) => `a delivery is of the event ${id}, not in the log`),
        ...missing.map(({ id }) => `the log has personal data sealed with the key ${id}, which is lost`),
      ]
    },
    get events() {
      return events.size
    },
    get found() {
      return found
    },
  }
}

export async function query(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Record<string, string>[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Record<string, string>>(sql, [...values])).rows
  } finally {
    await client.end()
  }
}
