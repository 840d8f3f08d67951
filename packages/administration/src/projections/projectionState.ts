// The schema of a projection for operators.
import { Nullable } from '@paylog/domain/fields'
import type { ListedProjection } from '@paylog/projections/listProjections'
import { type Static, Type } from 'typebox'

const Lag = Type.Object(
  {
    events: Type.Integer({ description: 'Recorded events that its live table does not contain yet' }),
    is_more: Type.Boolean({ description: 'Whether there may be more, because counting stopped early' }),
    seconds: Type.Number({ description: 'The age of the first of them' }),
  },
  { title: 'ProjectionLag' },
)

const Table = Type.Object(
  {
    table: Type.String(),
    version: Type.Integer(),
    state: Type.Enum(['live', 'building', 'retired', 'scratch'], {
      description: 'Queries read the live one; a rebuild fills one beside it, a verification a scratch one',
    }),
    since: Type.String({ format: 'date-time', description: 'When it got this state' }),
    schema_version: Type.Integer(),
    position: Nullable(Type.String({ description: 'Position in the log that it has reached' })),
    rows: Type.Integer({ description: 'Estimated by Postgres' }),
    bytes: Type.Integer({ description: 'With its indexes' }),
  },
  { title: 'ProjectionTable' },
)

export const ProjectionState = Type.Object(
  {
    projection: Type.String(),
    schema_version: Nullable(Type.Integer({ description: 'Of the version of Paylog that responds' })),
    is_running: Type.Boolean({ description: 'Whether a projector applies events to it' }),
    is_rebuilding: Type.Boolean(),
    is_verifying: Type.Boolean(),
    lag: Nullable(Lag),
    stopped_because: Nullable(Type.String({ description: 'The event that the live table could not read' })),
    tables: Type.Array(Table),
  },
  { title: 'Projection' },
)
export type ProjectionState = Static<typeof ProjectionState>

export function projectionState({ tables, ...listed }: ListedProjection): ProjectionState {
  return {
    ...listed,
    stopped_because: tables.find(({ state }) => state === 'live')?.stopped_because ?? null,
    tables: tables.map(({ stopped_because: _, since, ...table }) => ({ ...table, since: since.toISOString() })),
  }
}

export const exampleProjection: ProjectionState = {
  projection: 'payments',
  schema_version: 3,
  is_running: true,
  is_rebuilding: false,
  is_verifying: false,
  lag: { events: 0, is_more: false, seconds: 0 },
  stopped_because: null,
  tables: [
    {
      table: 'payments_v1',
      version: 1,
      state: 'live',
      since: '2026-01-31T12:00:00.000Z',
      schema_version: 3,
      position: '4711',
      rows: 24000,
      bytes: 12582912,
    },
  ],
}
