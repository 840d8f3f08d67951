// `projections list`: what there is of each projection, whether it runs, and how far it is.
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import type { Lag } from '@paylog/projections/lag'
import { rebuildLock } from '@paylog/projections/rebuild/rebuild'
import { verifyLock } from '@paylog/projections/rebuild/verify'
import { projections } from '@paylog/projections/registry'
import { projectionLock } from '@paylog/projections/run/runProjection'
import { listStoredTables, type StoredTable } from '@paylog/projections/tables/inventory'
import { tableName } from '@paylog/projections/tables/tables'
import { Type } from 'typebox'
import { type CliCommand, readArguments } from '../command.ts'
import type { Pool } from '../opsPool.ts'
import { listText } from './listText.ts'
import { listLags } from './projectionLag.ts'
import { heldLocks, withReadModels } from './readModels.ts'

const Config = Type.Object({
  DATABASE_URL: url(['postgres', 'postgresql']),
  EVENTSTORE_URL: Type.Optional(url(['esdb', 'esdb+discover'])),
})

export type ListedTable = Omit<StoredTable, 'projection' | 'position'> & {
  readonly table: string
  readonly position: string | null
}

export type ListedProjection = {
  readonly projection: string
  /** This program's; null for a projection that it does not know. */
  readonly definition: number | null
  /** Some projector applies the log to it. */
  readonly is_running: boolean
  readonly is_rebuilding: boolean
  readonly is_verifying: boolean
  /** Null when nobody can say it. */
  readonly lag: { readonly events: number; readonly is_more: boolean; readonly seconds: number } | null
  readonly tables: readonly ListedTable[]
}

export const projectionsList: CliCommand = {
  usage: '[--json]',
  summary: 'Show the tables of each projection, whether it runs, and how far behind the log it is',
  details: [
    '  --json  one object: projections, each with its tables; the numbers of rows are estimates of the database',
    '',
    'Of the tables of a projection queries see the live one. building: a rebuild fills it, or has left it; retired: it was',
    'live before a rebuild; scratch: a verification fills it, or has left it. `projections prune` drops what is left.',
    '',
    'Behind: events that are recorded and not in the live table yet, and for how long the first of them has been waiting.',
    'It is unknown when neither the event store nor a projector has said it.',
  ].join('\n'),
  async run(args, { environment, print, errors }) {
    const { values } = readArguments(args, [], { json: { type: 'boolean' } })
    const { DATABASE_URL, EVENTSTORE_URL } = loadConfig(Config, environment)
    const listed = await withReadModels(DATABASE_URL, errors, ({ pool }) => listProjections(pool, EVENTSTORE_URL))
    await print(values.json ? JSON.stringify({ projections: listed }) : listText(listed))
  },
}

async function listProjections(pool: Pool, eventStoreUrl: string | undefined): Promise<ListedProjection[]> {
  const stored = await listStoredTables(pool)
  const lags = await listLags(pool, eventStoreUrl)
  const known = new Map(projections.map(({ name, definition }) => [name, definition]))
  const names = [...new Set([...known.keys(), ...stored.map(({ projection }) => projection)])]
  const held = await heldLocks(
    pool,
    names.flatMap((name) => projectionLocks(name)),
  )
  return names.map((name) => {
    const [is_running = false, is_rebuilding = false, is_verifying = false] = projectionLocks(name).map((lock) =>
      held.has(lock),
    )
    return {
      projection: name,
      definition: known.get(name) ?? null,
      is_running,
      is_rebuilding,
      is_verifying,
      lag: lagJson(lags.get(name)),
      tables: stored.filter(({ projection }) => projection === name).map(listedTable),
    }
  })
}

const projectionLocks = (name: string) => [projectionLock({ name }), rebuildLock({ name }), verifyLock({ name })]

function listedTable({ projection, position, ...table }: StoredTable): ListedTable {
  return { table: tableName({ name: projection }, table.version), position: position?.toString() ?? null, ...table }
}

function lagJson(lag: Lag | undefined): ListedProjection['lag'] {
  if (lag === undefined) return null
  return { events: lag.events, is_more: lag.isMore, seconds: Math.round(lag.seconds * 1_000) / 1_000 }
}
