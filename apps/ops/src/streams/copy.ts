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
    const pool = databaseUrl ? open.pool({ databaseUrl, max: 1 }) : undefined
    const rows = pool && (await readCheckpoints(pool).catch(throwDatabaseError))
    const onProgress = (state: CopyProgress) => progress.show(logProgress(steps[state.phase], state))
    const result = await copyLog({ from, to, checkpoints: rows?.map((row) => row.checkpoint) ?? [], onProgress })
    const isWhole = result.recordedSince === 0
    const moves = pool && rows && isWhole ? await moveCheckpoints(pool, rows, result.checkpoints) : undefined
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

type MovedCheckpoint = { readonly table: string; readonly name: string; readonly from: bigint; readonly to: bigint }
type Row = { readonly table: string; readonly name: string; readonly checkpoint: LogCheckpoint }

/** Reads the checkpoints of a database. @throws OpsError when there are none; database errors */
export async function readCheckpoints(pool: Pool): Promise<Row[]> {
  const found: Row[][] = []
  for (const table of tables) if (await isPresent(pool, table)) found.push(await readRows(pool, table))
  if (found.length > 0) return found.flat()
  throw new OpsError(`This database has no checkpoints: neither ${tables.join(' nor ')} exists.`)
}

async function isPresent(db: Pick<Pool, 'query'>, table: string): Promise<boolean> {
  const { rows } = await db.query<{ oid: string | null }>('select to_regclass($1)::text as oid', [table])
  return Boolean(rows[0]?.oid)
}

async function readRows(pool: Pool, table: string): Promise<Row[]> {
  const { rows } = await pool.query<LogCheckpoint & { readonly name: string }>(
    // One that has read nothing has no position and starts at the beginning anyway. Copies of 1.0.0 marked a move by a row.
    `select name, commit_position as commit, prepare_position as prepare, event_id as "eventId" from ${table}
     where commit_position is not null and event_id <> '${NIL}' order by name`,
  )
  return rows.map(({ name, ...checkpoint }) => ({ table, name, checkpoint }))
}

/**
 * Moves all checkpoints or none.
 * @param to the new ones, in the order of the rows; undefined for those that stay
 * @throws OpsError when a checkpoint has changed, because a consumer is still running
 */
export const moveCheckpoints = (pool: Pool, rows: readonly Row[], to: readonly (LogCheckpoint | undefined)[]) =>
  inTransaction(pool, async (client) => {
    const moves: MovedCheckpoint[] = []
    for (const [index, { table, name, checkpoint }] of rows.entries()) {
      const moved = to[index]
      if (moved === undefined) continue
      const { rowCount } = await client.query(
        `update ${table} set commit_position = $2, prepare_position = $3, event_id = $4, updated_at = now()
         where name = $1 and commit_position = $5 and event_id = $6`,
        [name, moved.commit, moved.prepare, moved.eventId, checkpoint.commit, checkpoint.eventId],
      )
      if (rowCount !== 1)
        throw new OpsError(`The checkpoint ${name} has changed meanwhile: stop projector and worker first.`)
      moves.push({ table, name, from: checkpoint.commit, to: moved.commit })
    }
    // The copy has the same tree, but other positions.
    if (moves.length > 0 && (await isPresent(client, 'audit.tree'))) await restartTree(client)
    return moves
  })
