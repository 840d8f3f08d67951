// GET /admin/reports/{month} and GET /admin/reports: the money of a month, or of any days, for administrators.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Instant, Nullable } from '@paylog/domain/fields'
import { livePositions } from '@paylog/projections/apply/checkpoints'
import { type ListFile, wholeList } from '@paylog/runtime/http/listFiles'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import type { Queryable } from '@paylog/runtime/postgres/runQuery'
import { timeZone, timeZoneParameter } from '@paylog/runtime/timeZones'
import { type Static, Type } from 'typebox'
import { Currency, ExactText, invalidQuery } from '../lists/filters.ts'
import { staleHeader } from '../readAfter.ts'
import { administratorSchema, type QueryDependencies } from '../routeSchemas.ts'
import { getReport, type ReportedRows, type ReportPeriod, ReportRow } from './report.ts'

/** What a report is read from. */
const projections = ['payments', 'refunds', 'disputes'] as const
const maxDays = 400
const dayMs = 86_400_000

const time_zone = Type.With(timeZoneParameter, {
  description: 'The IANA name of the time zone in which days begin and end; also of the times in a file',
})
const Month = Type.Object({
  month: Type.String({ pattern: '^\\d{4}-(0[1-9]|1[0-2])$', description: 'Such as 2026-01' }),
})
const only = {
  provider_id: Type.Optional(Type.With(ExactText, { description: 'Only the rows of this provider' })),
  currency: Type.Optional(Type.With(Currency, { description: 'Only the rows in this currency' })),
}
const Zone = Type.Object({ time_zone, ...only })
const Days = Type.Object({
  from: Type.String({ format: 'date', description: 'The first day, such as 2026-01-31' }),
  to: Type.String({ format: 'date', description: `The day after the last one; at most ${maxDays} days later` }),
  time_zone,
  ...only,
})

const Report = Type.Object(
  {
    from: Type.With(Instant, { description: 'The beginning of the period, itself included' }),
    to: Type.With(Instant, { description: 'The end of the period, itself excluded' }),
    time_zone: Type.String(),
    rows: Type.Array(ReportRow),
    differences: Type.Array(Type.Unsafe<never>({ type: 'object' }), {
      description: 'Between our log and the books of the providers; none while those are not known',
    }),
    position: Nullable(
      Type.String({ description: 'The report has all events up to this position of the log, as `X-Event-Position`' }),
    ),
    checkpoint: Nullable(
      Type.String({
        description: 'A signed checkpoint of the log over the position. Null: GET /admin/events/checkpoint has it',
      }),
    ),
  },
  { title: 'Report' },
)

const description = [
  'For administrators. What came in is positive, what went out negative.',
  'A payment belongs to the period by its `completed_at`, with all that was received for it, such as a partial capture. A refund belongs to it by ' +
    'when it succeeded; one that failed afterwards came back. A dispute belongs to it by when its money was taken (when it was opened, an ' +
    'inquiry excepted), and by when it was given back (when it was won). PayPal takes the money of a dispute by a reversal, which is a refund. ' +
    'Amounts that are not known in the currency of the payment do not count; `GET /admin/payments?attention=true` lists them.',
  'Sums may exceed 2^53: read them as large integers where that can happen.',
].join('\n\n')

const exampleOf = (cents: bigint | null) => ({
  ours: cents === null ? null : Number(cents),
  provider: null,
  difference: null,
})

const exampleRow = {
  provider_id: 'stripe',
  currency: 'EUR',
  payments: 2,
  opening_cents: exampleOf(null),
  gross_cents: exampleOf(5198n),
  refunds_cents: exampleOf(-500n),
  disputes_cents: exampleOf(0n),
  fees_cents: exampleOf(null),
  adjustments_cents: exampleOf(null),
  converted_cents: exampleOf(null),
  payouts_cents: exampleOf(null),
  closing_cents: exampleOf(null),
}

const response = dataResponse(Report, {
  description: 'A row for each provider and currency with money in the period, in this order',
  headers: staleHeader,
  examples: [
    {
      ...{ from: '2025-12-31T23:00:00.000Z', to: '2026-01-31T23:00:00.000Z', time_zone: 'Europe/Berlin' },
      ...{ rows: [exampleRow], differences: [], position: '4711', checkpoint: null },
    },
  ],
})

const reportSchema = (operationId: string, summary: string) => ({
  ...administratorSchema('payments', operationId, summary),
  description,
  response: { 200: response },
})

export function reportRoutes({ db, readAfter }: QueryDependencies): FastifyPluginAsyncTypebox {
  const preHandler = readAfter(...projections)
  return async (http) => {
    const monthly = {
      ...reportSchema('getMonthlyReport', 'Get the report of a month'),
      params: Month,
      querystring: Zone,
    }
    http.get(
      '/admin/reports/:month',
      { config: { right: 'read', file: fileOf(ofMonth) }, preHandler, schema: monthly },
      async (request) => ({ success: true as const, data: await readReport(db, ofMonth(request)) }),
    )
    const ofAnyDays = { ...reportSchema('getReport', 'Get the report of some days'), querystring: Days }
    http.get(
      '/admin/reports',
      { config: { right: 'read', file: fileOf(ofDays) }, preHandler, schema: ofAnyDays },
      async (request) => ({ success: true as const, data: await readReport(db, ofDays(request)) }),
    )
  }
}

type Wanted = ReportPeriod & ReportedRows & { readonly time_zone: string }

async function readReport(db: Queryable, wanted: Wanted): Promise<Static<typeof Report>> {
  const { from, to, time_zone } = wanted
  // First, so that the report has at least the events up to it.
  const positions = await livePositions(db)
  const [least] = projections.flatMap((name) => positions.get(name) ?? []).toSorted((a, b) => (a < b ? -1 : 1))
  const isKnown = projections.every((name) => positions.has(name))
  return {
    ...{ from: from.toISOString(), to: to.toISOString(), time_zone },
    rows: await getReport(db, wanted),
    differences: [],
    position: isKnown ? String(least) : null,
    checkpoint: null,
  }
}

/** The rows of a report as a file. @param wanted reads the period from a request that was validated */
const fileOf = <Request extends object>(wanted: (request: Request) => Wanted): ListFile =>
  wholeList({ name: 'report', item: ReportRow, example: exampleRow }, (request, client) =>
    getReport(client, wanted(request as object as Request)),
  )

type OfMonth = { readonly params: Static<typeof Month>; readonly query: Static<typeof Zone> }
type OfDays = { readonly query: Static<typeof Days> }

function ofMonth({ params: { month }, query }: OfMonth): Wanted {
  const [year = 0, number = 0] = month.split('-').map(Number)
  // The month after December is that of the next year.
  const next = new Date(Date.UTC(year, number, 1)).toISOString().slice(0, 10)
  return { ...query, ...period(`${month}-01`, next, query.time_zone) }
}

/** @throws DomainError `invalid_request` for an end before the beginning, and too many days */
function ofDays({ query }: OfDays): Wanted {
  const { from, to, time_zone } = query
  if (to <= from) throw invalidQuery('to', 'must be after from')
  if (Date.parse(to) - Date.parse(from) > maxDays * dayMs)
    throw invalidQuery('to', `must be at most ${maxDays} days after from`)
  return { ...query, ...period(from, to, time_zone) }
}

/** @throws DomainError `invalid_request` for an unknown zone */
function period(from: string, to: string, time_zone: string): ReportPeriod {
  const { startOfDay } = timeZone(time_zone)
  return { from: new Date(startOfDay(from)), to: new Date(startOfDay(to)) }
}
