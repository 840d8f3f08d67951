// `projections list`: the tables of each projection, whether it runs, and its lag.
import { type ListedProjection, listProjections } from '@paylog/projections/listProjections'
import { table } from '@paylog/runtime/process/table'
import { defineCommand } from '../defineCommand.ts'
import { sizeText, visible } from '../texts.ts'

export const projectionsList = defineCommand({
  summary: 'Show the tables of each projection, whether it runs, and its lag',
  json: 'one object: projections with their tables; row counts are estimates of the database',
  about: [
    'Queries read the live table. The other states: building (filled by a rebuild, or left by one), retired (live before',
    'a rebuild), scratch (filled by a verification, or left by one). `projections prune` drops what is not in use.',
    '',
    'Lag: the recorded events that are not in the live table yet, and the age of the first of them. It is unknown when',
    'neither the event store nor a projector reports it.',
  ],
  async run({ open }) {
    const store = open.hasLog ? await open.store() : undefined
    const projections = await listProjections(open.pool(), store)
    return { json: { projections }, text: listText(projections) }
  },
})

export function listText(listed: readonly ListedProjection[]): string {
  return [projectionsText(listed), tablesText(listed), ...listed.flatMap(remarks)].join('\n\n')
}

function projectionsText(listed: readonly ListedProjection[]): string {
  return table(
    ['Projection', 'Live table', 'Runs', 'Position', 'Lag', 'In progress'],
    listed.map((projection) => {
      const live = listedLiveTable(projection)
      return [
        projection.projection,
        live?.table ?? 'none',
        projection.is_running ? 'yes' : 'no',
        live === undefined ? '' : (live.position ?? 'start'),
        lagText(projection.lag),
        [...(projection.is_rebuilding ? ['rebuild'] : []), ...(projection.is_verifying ? ['verify'] : [])].join(', '),
      ]
    }),
  )
}

function tablesText(listed: readonly ListedProjection[]): string {
  return table(
    ['Table', 'State', 'Since', 'Schema version', 'Rows (about)', 'Size'],
    listed.flatMap(({ tables }) =>
      tables.map((each) => [
        each.table,
        each.state,
        each.since.toISOString(),
        String(each.schema_version),
        String(each.rows),
        sizeText(each.bytes),
      ]),
    ),
  )
}

const listedLiveTable = ({ tables }: ListedProjection) => tables.find(({ state }) => state === 'live')

function lagText(lag: ListedProjection['lag']): string {
  if (lag === null) return 'unknown'
  const events = `${lag.events}${lag.is_more ? ' or more' : ''} ${lag.events === 1 && !lag.is_more ? 'event' : 'events'}`
  return lag.events === 0 && !lag.is_more ? events : `${events}, ${Math.round(lag.seconds)} s`
}

/** Problems that need attention. */
function remarks(projection: ListedProjection): string[] {
  const { projection: name, schema_version } = projection
  const live = listedLiveTable(projection)
  if (live === undefined) return [`${name} has no live table: run \`npm run -s ops -- migrate\`.`]
  return [
    ...(live.stopped_because === null
      ? []
      : [`${name} stopped at an event that it cannot read: ${visible(live.stopped_because)}`]),
    ...schemaVersionRemark(live, schema_version),
  ]
}

function schemaVersionRemark(
  live: { readonly table: string; readonly schema_version: number },
  own: number | null,
): readonly string[] {
  const { table: name, schema_version } = live
  if (own === null) return [`${name} belongs to a projection that this program does not have.`]
  if (schema_version < own)
    return [`${name} has schema version ${schema_version}, and this program has ${own}: its projector will rebuild it.`]
  if (schema_version > own)
    return [
      `${name} has schema version ${schema_version}, and this program supports up to ${own}: a later version runs elsewhere.`,
    ]
  return []
}
