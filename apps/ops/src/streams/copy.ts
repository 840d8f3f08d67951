// Who has read the log up to where, moved from the positions of one log to those of its copy.
import type { Writable } from 'node:stream'
import type { LogPosition } from '@paylog/domain/events'
import { withoutCredentials } from '@paylog/event-store/connection/connectionString'
import { type CopyProgress, type CopyResult, copyLog } from '@paylog/event-store/copy-log/copyLog'
import { type CliCommand, OpsError, readArguments, UsageError } from '../command.ts'
import { opsPool, type Pool } from '../database.ts'
import { type CliProgress, type CliProgressOutput, createProgress } from '../progress.ts'

/** Whoever reads the log keeps its checkpoint in a table like these. */
const tables = ['read_models.checkpoints', 'webhooks.checkpoints'] as const
/** The row that says that a table's checkpoints are positions of this log, so that they are moved only once. */
const markerOf = (address: string) => `moved to ${address}`

export type MovedCheckpoint = {
  readonly table: string
  readonly name: string
  readonly from: bigint
  readonly to: bigint
}

export type Checkpoints = {
  /** Where they are; nothing when they have been moved to that log before. */
  readonly positions: readonly LogPosition[]
  /**
   * Moves all of them, or none.
   * @param positions the new ones, in the order of `positions`
   * @throws OpsError when one of them is no longer where it was, because somebody still reads
   */
  move(positions: readonly LogPosition[]): Promise<readonly MovedCheckpoint[]>
  close(): Promise<void>
}

type Row = { readonly table: string; readonly name: string; readonly position: LogPosition }

/**
 * Reads the checkpoints of a database.
 * @param target connection string of the log that they are to be moved to
 * @param errors where lost connections are told
 * @throws OpsError when there are none; the database's error
 */
export async function openCheckpoints(databaseUrl: string, target: string, errors: Writable): Promise<Checkpoints> {
  const { pool } = opsPool(databaseUrl, { max: 1, errors })
  const marker = markerOf(withoutCredentials(target))
  try {
    const present = await presentTables(pool)
    const rows = (await Promise.all(present.map((table) => readRows(pool, table)))).flat()
    const isMoved = rows.some(({ name }) => name === marker)
    const left = isMoved ? [] : rows
    return {
      positions: left.map(({ position }) => position),
      move: (positions) => moveAll(pool, { rows: left, positions, marker, tables: isMoved ? [] : present }),
      close: () => pool.end(),
    }
  } catch (error) {
    await pool.end()
    throw error
  }
}

async function presentTables(pool: Pool): Promise<string[]> {
  const found: string[] = []
  for (const table of tables) {
    const { rows } = await pool.query<{ oid: string | null }>('select to_regclass($1)::text as oid', [table])
    if (rows[0]?.oid) found.push(table)
  }
  if (found.length === 0)
    throw new OpsError(`There are no checkpoints in this database: neither ${tables.join(' nor ')}.`)
  return found
}

async function readRows(pool: Pool, table: string): Promise<Row[]> {
  const { rows } = await pool.query<{ name: string; commit_position: bigint; prepare_position: bigint }>(
    // A projection that has read nothing yet has a row without a position, and starts at the beginning anyway.
    `select name, commit_position, prepare_position from ${table} where commit_position is not null order by name`,
  )
  return rows.map(({ name, commit_position, prepare_position }) => {
    return { table, name, position: { commit: commit_position, prepare: prepare_position } }
  })
}

async function moveAll(
  pool: Pool,
  options: {
    readonly rows: readonly Row[]
    readonly positions: readonly LogPosition[]
    readonly marker: string
    readonly tables: readonly string[]
  },
): Promise<MovedCheckpoint[]> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const moves: MovedCheckpoint[] = []
    for (const [index, { table, name, position }] of options.rows.entries()) {
      const to = options.positions[index]
      if (to === undefined) throw new Error(`The position of ${name} was not translated`)
      const { rowCount } = await client.query(
        `update ${table} set commit_position = $2, prepare_position = $3, updated_at = now()
         where name = $1 and commit_position = $4 and prepare_position = $5`,
        [name, to.commit, to.prepare, position.commit, position.prepare].map(String),
      )
      if (rowCount !== 1)
        throw new OpsError(`The checkpoint ${name} has moved meanwhile: stop projector and worker first.`)
      moves.push({ table, name, from: position.commit, to: to.commit })
    }
    for (const table of options.tables) {
      await client.query(
        `insert into ${table} (name, commit_position, prepare_position, updated_at) values ($1, 0, 0, now())`,
        [options.marker],
      )
    }
    await client.query('commit')
    return moves
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  } finally {
    client.release()
  }
}

// How far a copy is, in words.

const titles = { survey: 'Looking', copy: 'Copying', verification: 'Comparing' } as const

export function createCopyProgress(output: CliProgressOutput, now?: () => number): CliProgress<CopyProgress> {
  return createProgress(output, copyProgressText, now)
}

function copyProgressText({ phase, events, of, position }: CopyProgress, elapsedMs: number): string {
  const rate = elapsedMs > 0 ? `, ${Math.round((events * 1_000) / elapsedMs)}/s` : ''
  const total = of === undefined ? '' : ` of ${of}`
  return `${titles[phase]}: ${events}${total} events${rate}, at position ${position.commit}`
}

// `streams copy`: moves the log to another event store and proves that the copy is the same.

export const streamsCopy: CliCommand = {
  usage: '--from esdb://… --to esdb://… [--checkpoints postgres://…] [--json]',
  summary:
    'Copy the whole log into another event store, compare them, and move the checkpoints of projector and worker',
  details: [
    '  --from URL         the event store that has the log',
    '  --to URL           the event store that gets it: empty, or with the beginning of the same log',
    '  --checkpoints URL  the database whose checkpoints of projector and worker move to the positions of the copy',
    '  --json             one object: the counts, the last positions, and the checkpoints that moved',
    '',
    'The addresses carry the name and password of a user of $admins. Events that the target has already are compared and',
    'not copied again, so it may be interrupted and repeated at any time. Stop everything that writes before the last run:',
    'checkpoints only move when the source recorded nothing meanwhile. Exits with 1 otherwise, or when the logs differ.',
  ].join('\n'),
  async run(args, { print, errors }) {
    const { values } = readArguments(args, [], {
      from: { type: 'string' },
      to: { type: 'string' },
      checkpoints: { type: 'string' },
      json: { type: 'boolean' },
    })
    const from = readAddress('--from', values.from)
    const to = readAddress('--to', values.to)
    if (placeOf(from) === placeOf(to)) throw new UsageError('--from and --to are the same')
    if (values.checkpoints !== undefined) requireScheme('--checkpoints', values.checkpoints, /^postgres(ql)?:\/\//)
    const checkpoints =
      values.checkpoints === undefined
        ? undefined
        : await openCheckpoints(values.checkpoints, to, errors).catch(throwDatabaseError)
    const progress = createCopyProgress(errors)
    try {
      const positions = checkpoints?.positions
      const result = await copyLog({ from, to, ...(positions && { positions }), onProgress: progress.show })
      progress.end()
      const isWhole = result.recordedSince === 0
      const moves = isWhole ? await checkpoints?.move(result.positions) : undefined
      await print(values.json ? JSON.stringify(summary(result, moves)) : copySummaryText(result, moves))
      if (!isWhole) throw new OpsError(laterEvents(result))
    } finally {
      progress.end()
      await checkpoints?.close()
    }
  },
}

function readAddress(option: string, value: string | undefined): string {
  if (value === undefined) throw new UsageError(`${option} is missing`)
  requireScheme(option, value, /^esdb(\+discover)?:\/\/./)
  return value
}

const placeOf = (address: string) => withoutCredentials(address).replaceAll(/\blocalhost\b/g, '127.0.0.1')

function throwDatabaseError(error: unknown): never {
  if (error instanceof OpsError) throw error
  const reason = error instanceof AggregateError ? error.errors[0] : error
  throw new OpsError(`--checkpoints: ${reason instanceof Error ? reason.message : String(reason)}`, { cause: error })
}

function requireScheme(option: string, value: string, expected: RegExp): void {
  const scheme = expected.source.startsWith('^esdb') ? 'esdb://' : 'postgres://'
  if (!expected.test(value)) throw new UsageError(`${option} must begin with ${scheme}`)
}

/** For machines: positions as decimal strings. */
function summary(result: CopyResult, moves: readonly MovedCheckpoint[] | undefined) {
  return {
    complete: result.recordedSince === 0,
    events: result.events,
    copied: result.copied,
    already_there: result.alreadyThere,
    made_by_server: result.madeByServer,
    system_events_left_out: result.systemEventsLeftOut,
    recorded_since: result.recordedSince,
    source_position: result.end?.source.commit.toString() ?? null,
    target_position: result.end?.target.commit.toString() ?? null,
    checkpoints: moves?.map(({ table, name, from, to }) => ({ table, name, from: String(from), to: String(to) })),
  }
}

function copySummaryText(result: CopyResult, moves: readonly MovedCheckpoint[] | undefined): string {
  const { events, copied, alreadyThere, madeByServer, systemEventsLeftOut, end } = result
  const lines = [
    `${events} events, ${copied} copied and ${alreadyThere} there before, are the same in both logs.`,
    madeByServer > 0
      ? `${madeByServer} of them, about deleted streams, were made by the servers and have other ids.`
      : '',
    `Left out events of system streams: ${systemEventsLeftOut}.`,
    end
      ? `The last event is at position ${end.source.commit} of the source and ${end.target.commit} of the target.`
      : '',
    ...(moves ?? []).map(({ table, name, from, to }) => `${table} ${name}: from position ${from} to ${to}.`),
  ]
  return lines.filter((line) => line !== '').join('\n')
}

const laterEvents = ({ recordedSince }: CopyResult) =>
  `The source has recorded ${recordedSince} more events meanwhile. Stop what writes to it and run the command again: it ` +
  'goes on from here.'
