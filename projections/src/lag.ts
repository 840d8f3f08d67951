// The lag of the read models, as measured by the projector.
import { shared } from '@paylog/runtime/process/shared'
import type { Pool } from 'pg'

export type Lag = {
  /** Events of the projection that its live table does not contain yet. */
  readonly events: number
  /** Whether there may be more, because counting stopped early. */
  readonly isMore: boolean
  /** How long ago the first of them was recorded. */
  readonly seconds: number
}

/** Projectors record the lag every few seconds, so an older one comes from a projector that no longer runs. */
export const maxLagAgeSeconds = 15

/** The events counted in the log after a projection's position. */
export type LagCount = {
  readonly events: number
  readonly isMore: boolean
  readonly first: { readonly created: Date } | undefined
}

/**
 * The lag from a count.
 * @param now in ms
 * @returns `undefined` when it is unknown: counting stopped early without finding an event of the projection
 */
export function lagOf({ events, isMore, first }: LagCount, now: number): Lag | undefined {
  if (first === undefined) return isMore ? undefined : { events, isMore, seconds: 0 }
  // Clocks may differ slightly.
  return { events, isMore, seconds: Math.max((now - first.created.getTime()) / 1_000, 0) }
}

/** The stored figures of a projection. */
export type ProjectionFigures = {
  readonly projection: string
  /** Of the live table. */
  readonly version: number
  /** The position of the live table; undefined before the first event. */
  readonly position: string | null
  /** When it reached that position. */
  readonly read_at: Date
  readonly stopped_because: string | null
  /** Undefined when no projector recorded it lately, or it could not be counted. */
  readonly lag: Lag | undefined
  /** How long ago a projector recorded the lag; undefined if never. */
  readonly reportedSecondsAgo: number | undefined
}

type Row = Omit<ProjectionFigures, 'lag' | 'reportedSecondsAgo'> & {
  readonly lag_events: string | null
  readonly lag_is_more: boolean
  readonly lag_seconds: number | null
  readonly reported_seconds_ago: number | null
}

const projectionMetrics: readonly {
  readonly name: string
  readonly help: string
  readonly measure: (figures: ProjectionFigures) => number | undefined
}[] = [
  {
    name: 'projection_lag_events',
    help: 'Events not yet in the read model, counted up to 1000; missing when unknown',
    measure: ({ lag }) => lag?.events,
  },
  {
    name: 'projection_lag_seconds',
    help: 'Age of the first event not yet in the read model; missing when unknown',
    measure: ({ lag }) => lag?.seconds,
  },
  {
    name: 'projection_report_age_seconds',
    help: 'Time since a projector last recorded the lag',
    measure: ({ reportedSecondsAgo }) => reportedSecondsAgo,
  },
  {
    name: 'projection_stopped',
    help: 'Whether the projection has stopped at an unreadable event',
    measure: ({ stopped_because }) => (stopped_because === null ? 0 : 1),
  },
]

/** Records the lags of projections; an undefined one is unknown. */
export async function recordLags(db: Pick<Pool, 'query'>, lags: ReadonlyMap<string, Lag | undefined>): Promise<void> {
  const all = [...lags.values()]
  await db.query({
    name: 'record lags',
    text: `insert into read_models.lag (projection, events, is_more, seconds)
      select * from unnest($1::text[], $2::bigint[], $3::boolean[], $4::float8[])
      on conflict (projection) do update
      set events = excluded.events, is_more = excluded.is_more, seconds = excluded.seconds, reported_at = now()`,
    values: [
      [...lags.keys()],
      all.map((lag) => lag?.events ?? null),
      all.map((lag) => lag?.isMore ?? true),
      all.map((lag) => lag?.seconds ?? null),
    ],
  })
}

/** The gauges of projections, for the projector and the query API. */
export const projectionGauges = (readRows: () => Promise<readonly ProjectionFigures[]>) => ({
  readRows,
  labelName: 'projection',
  labelOf: ({ projection }: ProjectionFigures) => projection,
  figures: projectionMetrics,
})

/** What health pages show of a projection. The lag is null when it is unknown. */
export const lagDetails = (figures: ProjectionFigures | undefined) => ({
  version: figures?.version ?? null,
  position: figures?.position ?? null,
  lag_events: figures?.lag?.events ?? null,
  ...(figures?.lag?.isMore && { lag_is_more: true }),
  lag_seconds: figures?.lag?.seconds ?? null,
})

/** Shares one query among the checks of one health page. */
export const sharedFigures = (db: Pick<Pool, 'query'>) => shared(() => projectionFigures(db))

/** The figures of all projections, ordered by name. */
export async function projectionFigures(db: Pick<Pool, 'query'>): Promise<ProjectionFigures[]> {
  const { rows } = await db.query<Row>({
    name: 'projection figures',
    text: `select projection, version, commit_position::text as position, updated_at as read_at, stopped_because,
        lag_events::text, lag_is_more, lag_seconds, reported_seconds_ago
      from read_models.live_checkpoints order by projection`,
  })
  return rows.map(({ lag_events, lag_is_more, lag_seconds, reported_seconds_ago, ...figures }) => ({
    ...figures,
    lag:
      lag_events === null || lag_seconds === null || (reported_seconds_ago ?? 0) > maxLagAgeSeconds
        ? undefined
        : { events: Number(lag_events), isMore: lag_is_more, seconds: lag_seconds },
    reportedSecondsAgo: reported_seconds_ago ?? undefined,
  }))
}
