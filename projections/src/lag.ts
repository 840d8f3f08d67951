// How far behind the log the read models are, as their projector has measured it.
import type { Pool } from 'pg'

export type Lag = {
  /** Events that are for the projection and not in its live table yet. */
  readonly events: number
  /** Whether there may be more, because they were not counted to the end. */
  readonly isMore: boolean
  /** For how long the first of them has been recorded. */
  readonly seconds: number
}

/** A projector tells it every few seconds; what is this old was told by one that runs no more. */
export const maxLagAgeSeconds = 15

/** What was counted in the log after the position of a projection. */
export type LagCount = { readonly events: number; readonly isMore: boolean; readonly since: Date | undefined }

/**
 * The lag as it was counted.
 * @param now in ms
 * @returns nothing when it is not known: there was more to look through than there was time, and none of it was of interest
 */
export function lagOf({ events, isMore, since }: LagCount, now: number): Lag | undefined {
  if (since === undefined) return isMore ? undefined : { events, isMore, seconds: 0 }
  // Two clocks may differ by a little.
  return { events, isMore, seconds: Math.max((now - since.getTime()) / 1_000, 0) }
}

/** What is known of a projection without asking the log. */
export type ProjectionFigures = {
  readonly projection: string
  /** Of the live table. */
  readonly version: number
  /** Where the live table stands; nothing before the first event. */
  readonly position: string | null
  /** When it got there. */
  readonly read_at: Date
  readonly stopped_because: string | null
  /** Missing when no projector has told it lately, or when it could not be counted. */
  readonly lag: Lag | undefined
  /** How long ago a projector told something; missing when none ever did. */
  readonly toldSecondsAgo: number | undefined
}

type Row = Omit<ProjectionFigures, 'lag' | 'toldSecondsAgo'> & {
  readonly lag_events: string | null
  readonly lag_is_more: boolean
  readonly lag_seconds: number | null
  readonly told_seconds_ago: number | null
}

/** What Prometheus is told of each projection, by the projector and by whoever reads the tables. */
export const projectionMetrics: readonly {
  readonly name: string
  readonly help: string
  readonly measure: (figures: ProjectionFigures) => number | undefined
}[] = [
  {
    name: 'projection_lag_events',
    help: 'Events that are not in the read model yet, counted up to 1000; missing when it is not known',
    measure: ({ lag }) => lag?.events,
  },
  {
    name: 'projection_lag_seconds',
    help: 'Age of the first event that is not in the read model yet; missing when it is not known',
    measure: ({ lag }) => lag?.seconds,
  },
  {
    name: 'projection_told_seconds_ago',
    help: 'For how long no projector has told how far behind it is',
    measure: ({ toldSecondsAgo }) => toldSecondsAgo,
  },
  {
    name: 'projection_stopped',
    help: 'Whether the projection has stopped at an event that cannot be read',
    measure: ({ stopped_because }) => (stopped_because === null ? 0 : 1),
  },
]

/** Tells where a projection stands, also that it is not known. */
export async function recordLag(db: Pick<Pool, 'query'>, projection: string, lag: Lag | undefined): Promise<void> {
  await db.query({
    name: 'tell lag',
    text: `insert into read_models.lag (projection, events, is_more, seconds) values ($1, $2, $3, $4)
      on conflict (projection) do update
      set events = excluded.events, is_more = excluded.is_more, seconds = excluded.seconds, told_at = now()`,
    values: [projection, lag?.events ?? null, lag?.isMore ?? true, lag?.seconds ?? null],
  })
}

/**
 * Asks for the figures on behalf of several who ask at the same moment, such as the checks of one page, once for all of them.
 */
export function sharedFigures(db: Pick<Pool, 'query'>): () => Promise<ProjectionFigures[]> {
  let pending: Promise<ProjectionFigures[]> | undefined
  return () => {
    pending ??= projectionFigures(db).finally(() => {
      pending = undefined
    })
    return pending
  }
}

/** All projections, in the order of their names. */
export async function projectionFigures(db: Pick<Pool, 'query'>): Promise<ProjectionFigures[]> {
  const { rows } = await db.query<Row>({
    name: 'projection figures',
    text: `select projection, version, commit_position::text as position, updated_at as read_at, stopped_because,
        lag_events::text, lag_is_more, lag_seconds, told_seconds_ago
      from read_models.live_checkpoints order by projection`,
  })
  return rows.map(({ lag_events, lag_is_more, lag_seconds, told_seconds_ago, ...figures }) => ({
    ...figures,
    lag:
      lag_events === null || lag_seconds === null || (told_seconds_ago ?? 0) > maxLagAgeSeconds
        ? undefined
        : { events: Number(lag_events), isMore: lag_is_more, seconds: lag_seconds },
    toldSecondsAgo: told_seconds_ago ?? undefined,
  }))
}
