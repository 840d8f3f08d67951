// `streams copy`: copies the log to another event store, compares both, and moves the checkpoints.
import { restartTree } from '@paylog/audit-log/treeWriter'
import type { LogCheckpoint } from '@paylog/domain/events'
import { parseConnectionString, withoutCredentials } from '@paylog/event-store/connection/connectionString'
import { type CopyProgress, type CopyResult, copyLog } from '@paylog/event-store/copy-log/copyLog'
import { BadVariable } from '@paylog/runtime/config/kinds'
import { inTransaction } from '@paylog/runtime/postgres/transaction'
import { NIL } from 'uuid'
import { OpsError, UsageError } from '../command.ts'
import { defineCommand } from '../defineCommand.ts'
import { required, value } from '../options.ts'
import { logProgress } from '../progressLine.ts'
import type { Pool } from '../system.ts'

const eventStore = (help: string) =>
  required(
    value('URL', help, (text, name) => {
      try {
        parseConnectionString(text)
        return text
      } catch (error) {
        throw error instanceof BadVariable ? new UsageError(`${name} ${error.message}`) : error
      }
    }),
  )

const checkpointsHelp =
  'the database with the checkpoints of projector and worker, which move to the positions of the copy'

export const streamsCopy = defineCommand({
  summary: 'Copy the log to another event store, compare both, and move the checkpoints of projector and worker',
  options: {
    from: eventStore('the event store with the log'),
    to: eventStore('the target: empty, or with the beginning of the same log'),
    checkpoints: value('URL', checkpointsHelp, (text, name) => {
      if (!/^postgres(ql)?:\/\//.test(text)) throw new UsageError(`${name} must begin with postgres://`)
      return text
    }),
  },
  json: 'one object: the counts, the last positions, and the moved checkpoints',
  about: [
    'The URLs contain the name and password of a user in $admins. Events that the target already has are compared and',
    'not copied again, so the command may be interrupted and repeated at any time. Stop everything that writes before the',
    'last run: checkpoints only move when the source recorded nothing meanwhile. Exits with 1 when it did, or when the',
    'logs differ.',
  ],
  async run({ options: { from, to, checkpoints: databaseUrl }, open, progress }) {
    if (placeOf(from) === placeOf(to)) throw new UsageError('--from and --to are the same')
    const checkpoints =
      databaseUrl && (await openCheckpoints(open.pool({ databaseUrl, max: 1 }), to).catch(throwDatabaseError))
    const positions = checkpoints ? checkpoints.positions : undefined
    const onProgress = (state: CopyProgress) => progress.show(logProgress(steps[state.phase], state))
    const result = await copyLog({ from, to, ...(positions && { positions }), onProgress })
    const isWhole = result.recordedSince === 0
    const moves = checkpoints && isWhole ? await checkpoints.move(result.positions) : undefined
    return {
      json: summary(result, moves),
      text: copySummaryText(result, moves),
      problem: isWhole ? undefined : laterEvents(result),
    }
  },
})

const steps = { copying: 'Copying', comparing: 'Comparing' } as const

const placeOf = (address: string) => withoutCredentials(address).replaceAll(/\blocalhost\b/g, '127.0.0.1')

function throwDatabaseError(error: unknown): never {
  if (error instanceof OpsError) throw error
  const reason = error instanceof AggregateError ? error.errors[0] : error
  throw new OpsError(`--checkpoints: ${reason instanceof Error ? reason.message : String(reason)}`, { cause: error })
}

/** Positions as decimal strings. */
function summary(result: CopyResult, moves: readonly MovedCheckpoint[] | undefined) {
  return {
    complete: result.recordedSince === 0,
    events: result.events,
    copied: result.copied,
    already_there: result.alreadyThere,
    system_events_left_out: result.systemEventsLeftOut,
    recorded_since: result.recordedSince,
    source_position: result.end?.source.commit.toString() ?? null,
    target_position: result.end?.target.commit.toString() ?? null,
    checkpoints: moves?.map(({ table, name, from, to }) => ({ table, name, from: String(from), to: String(to) })),
  }
}

function copySummaryText(result: CopyResult, moves: readonly MovedCheckpoint[] | undefined): string {
  const { events, copied, alreadyThere, systemEventsLeftOut, end } = result
  const lines = [
    `${events} events, ${copied} copied and ${alreadyThere} already there, are the same in both logs.`,
    `Events of system streams, not copied: ${systemEventsLeftOut}.`,
    end
      ? `The last event is at position ${end.source.commit} of the source and ${end.target.commit} of the target.`
      : '',
    ...(moves ?? []).map(({ table, name, from, to }) => `${table} ${name}: from position ${from} to ${to}.`),
  ]
  return lines.filter((line) => line !== '').join('\n')
}

const laterEvents = ({ recordedSince }: CopyResult) =>
  `The source has recorded ${recordedSince} more events meanwhile. Stop everything that writes to it and run the ` +
  'command again. It continues from here.'

/** The tables in which the consumers of the log keep their checkpoints. */
const tables = ['read_models.checkpoints', 'webhooks.checkpoints'] as const
/** A row that marks the checkpoints of a table as already moved to this log. */
const markerOf = (address: string) => `moved to ${address}`

type MovedCheckpoint = { readonly table: string; readonly name: string; readonly from: bigint; readonly to: bigint }
type Row = { readonly table: string; readonly name: string; readonly position: LogCheckpoint }

/**
 * Reads the checkpoints of a database.
 * @param target connection string of the log that they are moved to
 * @throws OpsError when there are none; database errors
 */
export async function openCheckpoints(pool: Pool, target: string) {
  const marker = markerOf(withoutCredentials(target))
  const present = await presentTables(pool)
  const rows = (await Promise.all(present.map((table) => readRows(pool, table)))).flat()
  const isMoved = rows.some(({ name }) => name === marker)
  const left = isMoved ? [] : rows
  return {
    /** The current positions. Empty when they were already moved to that log. */
    positions: left.map(({ position }) => position),
    /**
     * Moves all checkpoints or none.
     * @param positions the new ones, in the order of `positions`
     * @throws OpsError when a checkpoint has changed, because a consumer is still running
     */
    move: (positions: readonly (LogCheckpoint | undefined)[]) =>
      moveAll(pool, { rows: left, positions, marker, tables: isMoved ? [] : present }),
  }
}

async function presentTables(pool: Pool): Promise<string[]> {
  const found: string[] = []
  for (const table of tables) if (await isPresent(pool, table)) found.push(table)
  if (found.length === 0)
    throw new OpsError(`This database has no checkpoints: neither ${tables.join(' nor ')} exists.`)
  return found
}

async function isPresent(db: Pick<Pool, 'query'>, table: string): Promise<boolean> {
  const { rows } = await db.query<{ oid: string | null }>('select to_regclass($1)::text as oid', [table])
  return Boolean(rows[0]?.oid)
}

async function readRows(pool: Pool, table: string): Promise<Row[]> {
  const { rows } = await pool.query<{
    name: string
    commit_position: bigint
    prepare_position: bigint
    event_id: string
  }>(
    // One that has read nothing has no position and starts at the beginning anyway.
    `select name, commit_position, prepare_position, event_id from ${table} where commit_position is not null
     order by name`,
  )
  return rows.map(({ name, commit_position, prepare_position, event_id }) => {
    return { table, name, position: { commit: commit_position, prepare: prepare_position, eventId: event_id } }
  })
}

async function moveAll(
  pool: Pool,
  options: {
    readonly rows: readonly Row[]
    readonly positions: readonly (LogCheckpoint | undefined)[]
    readonly marker: string
    readonly tables: readonly string[]
  },
): Promise<MovedCheckpoint[]> {
  return await inTransaction(pool, async (client) => {
    const moves: MovedCheckpoint[] = []
    for (const [index, { table, name, position }] of options.rows.entries()) {
      const to = options.positions[index]
      const { rowCount } = await client.query(
        `update ${table} set commit_position = $2, prepare_position = $3, event_id = $4, updated_at = now()
         where name = $1 and commit_position = $5 and event_id = $6`,
        [name, to?.commit, to?.prepare, to?.eventId, position.commit, position.eventId],
      )
      if (rowCount !== 1)
        throw new OpsError(`The checkpoint ${name} has changed meanwhile: stop projector and worker first.`)
      moves.push({ table, name, from: position.commit, to: to?.commit ?? 0n })
    }
    // The copy has the same tree, but other positions.
    if (options.rows.length > 0 && (await isPresent(client, 'audit.tree'))) await restartTree(client)
    for (const table of options.tables) {
      await client.query(
        `insert into ${table} (name, commit_position, prepare_position, event_id, updated_at)
         values ($1, 0, 0, '${NIL}', now())`,
        [options.marker],
      )
    }
    return moves
  })
}
