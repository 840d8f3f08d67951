// The list of projections for a terminal.
import { table } from '@paylog/runtime/process/table'
import type { ListedProjection } from './list.ts'
import { sizeText } from './sizes.ts'

export function listText(listed: readonly ListedProjection[]): string {
  return [projectionsText(listed), tablesText(listed), ...listed.flatMap(remarks)].join('\n\n')
}

function projectionsText(listed: readonly ListedProjection[]): string {
  return table(
    ['Projection', 'Live table', 'Runs', 'Position', 'Behind', 'Under way'],
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
    ['Table', 'State', 'Since', 'Definition', 'Rows (about)', 'Size'],
    listed.flatMap(({ tables }) =>
      tables.map((each) => [
        each.table,
        each.state,
        each.since.toISOString(),
        String(each.definition),
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

/** What somebody should look after. */
function remarks(projection: ListedProjection): string[] {
  const { projection: name, definition } = projection
  const live = listedLiveTable(projection)
  if (live === undefined) return [`${name} has no live table: run \`npm run -s ops -- migrate\`.`]
  return [
    ...(live.stopped_because === null
      ? []
      : [`${name} stopped at an event that it cannot read: ${live.stopped_because.replaceAll(/\p{C}/gu, '?')}`]),
    ...definitionRemark(live, definition),
  ]
}

function definitionRemark(
  live: { readonly table: string; readonly definition: number },
  own: number | null,
): readonly string[] {
  const { table: name, definition } = live
  if (own === null) return [`${name} is of a projection that this program does not know.`]
  if (definition < own)
    return [`${name} is of definition ${definition}, and this program makes ${own}: its projector rebuilds it.`]
  if (definition > own)
    return [`${name} is of definition ${definition}, and this program knows ${own}: a later one runs elsewhere.`]
  return []
}
