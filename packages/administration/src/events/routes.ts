// GET /admin/events: the log as ndjson, page by page, in the lines of `ops streams export`. GET /admin/events/checkpoint: what
// the manifest of an export names.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { findCheckpoint } from '@paylog/audit-log/exportCheckpoint'
import { type Actor, actorName } from '@paylog/domain/actor'
import { exampleId } from '@paylog/domain/examples'
import { Instant } from '@paylog/domain/fields'
import { type ExportFilters, filterProblem } from '@paylog/event-store/export/filters'
import { audited } from '@paylog/runtime/http/guardRoutes'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import { invalidInput } from '@paylog/runtime/http/validation'
import { type Static, Type } from 'typebox'
import { administratorSchema, type OperatorDependencies } from '../routeSchemas.ts'

const maxLimit = 5_000

const name = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 1_024, description }))
const position = (description: string) => Type.Optional(Type.String({ pattern: '^[0-9]{1,20}$', description }))

const Query = Type.Object({
  category: name('Only streams of this category: the part of the name before the first dash, such as payment'),
  stream: name('Only this stream'),
  type: name('Only events of this type, such as PaymentSucceeded'),
  since: Type.Optional(
    Type.With(Instant, {
      description: 'Only events recorded at this time or later (encode the + of an offset as %2B)',
    }),
  ),
  until: Type.Optional(
    Type.With(Instant, { description: 'Only events recorded before this time, which must be at least 10 s ago' }),
  ),
  after: position('X-Next-Position of the previous page, with the same filters: the page begins after this position'),
  head: position('X-Log-Head of the first page: the last position to read'),
  limit: Type.Integer({ minimum: 1, maximum: maxLimit, default: 1_000, description: 'Lines per page' }),
})

const exampleLine =
  `{"id":"018f0000-0000-7000-8000-0000000000ee","stream":"payment-${exampleId}","revision":"0","position":"4711",` +
  '"type":"PaymentInitiated","created":"2026-01-31T12:00:00.000Z","data":{"amount_cents":2599},"metadata":{"actor":"anonymous"}}\n'

const positionHeader = (description: string) => Type.String({ pattern: '^[0-9]+$', description })

const exportSchema = {
  ...administratorSchema('system', 'exportEvents', 'Export recorded events'),
  description: [
    'For administrators. The lines of `ops streams export`, byte for byte: one event per line, in the order of the log, with data and ' +
      'metadata as recorded. The pages of one selection, one after the other, are the file.',
    'A page reads a bounded part of the log in bounded time. It may therefore be shorter than `limit`, and even empty, while ' +
      'more follow: the export is complete when `X-Next-Position` is missing. Send it as `after`, and the `X-Log-Head` of the first page as ' +
      '`head`, so that events recorded meanwhile do not prolong the export.',
    'Events contain client secrets and personal data. System streams, whose names begin with $, are never exported. ' +
      'The audit trail has each export once.',
  ].join('\n\n'),
  querystring: Query,
  produces: ['application/x-ndjson'],
  response: {
    200: Type.String({
      description: 'A page of the export',
      headers: {
        'X-Next-Position': positionHeader('The `after` of the next page; missing on the last page'),
        'X-Log-Head': positionHeader(
          'Where the export ends: `head`, or on the first page the end of the log, with `until` the last event before that ' +
            'time or a later one. Missing when the log has no such event',
        ),
      },
      examples: [exampleLine],
    }),
  },
}

const ExportCheckpoint = Type.Object(
  {
    note: Type.String({ description: 'A signed note with a checkpoint of the tree of the log' }),
    consistency: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description:
        'Of an export whose lines are the first events of the log: the hashes in base64 that lead from the tree of its lines to ' +
        'that of the checkpoint; none when the checkpoint is not larger. Null for others',
    }),
  },
  { title: 'ExportCheckpoint' },
)

const exampleNote = [
  'payments.example.com/log\n1200\nUNhY4JhezH9gQYqvDMWrWH9CwlcKiECVqejMrND2VFw=\n',
  '— payments.example.com/log oaUjEpPI55uoguMERrwy6OBQgUpQZJUMraG30YGC8dRchvz/HkEN8GLfRK+Jgw1lvnpyOXE5uqFC0o+LQ3pqHWLNmgo=\n',
].join('\n')

const checkpointSchema = {
  ...administratorSchema('system', 'findExportCheckpoint', 'Find the checkpoint of an export'),
  description:
    'For administrators. The smallest signed checkpoint that covers all events of an export; for an export from the start of the ' +
    'log otherwise the newest one, which covers its first events. Null when there is none yet.',
  querystring: Type.Object({
    last_position: Type.String({ pattern: '^[0-9]{1,19}$', description: 'Position of its last event' }),
    count: Type.Integer({ minimum: 1, description: 'The number of its events' }),
  }),
  response: {
    200: dataResponse(Type.Union([ExportCheckpoint, Type.Null()]), {
      description: 'The checkpoint',
      examples: [{ note: exampleNote, consistency: [] }],
    }),
  },
}

export function eventRoutes(dependencies: OperatorDependencies): FastifyPluginAsyncTypebox {
  const { pool, store, now } = dependencies
  const continuations = createContinuations()
  return async (http) => {
    const exportLog = audited(exportSchema, 'export_log', ({ query, actor }) => {
      const { stream, limit: _limit, head: _head, after = null, ...filters } = query
      if (continuations.has(exportOf(actor, query), after)) return undefined
      return { target: stream === undefined ? null : { kind: 'stream', id: stream }, details: { after, ...filters } }
    })
    const config = { right: 'export', audited: exportLog } as const
    http.get('/admin/events', { config, schema: exportSchema }, async ({ query, actor }, reply) => {
      const filters = toFilters(query, now().getTime())
      const { after = null, head = null, limit } = query
      if (head !== null && BigInt(head) > ((await store.head())?.commit ?? 0n))
        throw invalidQuery('head', 'must not be after the end of the log')
      const page = await store.exportPage({ filters, after, head, limit })
      if (page.next !== null) {
        continuations.add(exportOf(actor, query), page.next)
        reply.header('x-next-position', page.next)
      }
      if (page.head !== null) reply.header('x-log-head', page.head)
      reply.type('application/x-ndjson')
      return page.text
    })

    http.get(
      '/admin/events/checkpoint',
      { config: { right: 'export' }, schema: checkpointSchema },
      async ({ query }) => {
        const found = await findCheckpoint(pool, { last: BigInt(query.last_position), count: query.count })
        const data = found && { note: found.note, consistency: found.consistency && [...found.consistency] }
        return { success: true as const, data }
      },
    )
  }
}

/** What the pages of one export have in common. */
const exportOf = (actor: Actor, { limit: _limit, head: _head, after: _after, ...filters }: Static<typeof Query>) =>
  JSON.stringify([actorName(actor), filters])

const maxContinuations = 1_000

/**
 * Remembers the pages that come next, so that the audit trail has an export once and no page without one. A page of an
 * export that another process started, or that was forgotten, counts as an export.
 */
function createContinuations() {
  const places = new Set<string>()
  const placeOf = (exported: string, after: string | null) => `${after} ${exported}`
  return {
    has: (exported: string, after: string | null) => places.has(placeOf(exported, after)),
    add(exported: string, after: string) {
      const [oldest] = places
      if (places.size >= maxContinuations && oldest !== undefined) places.delete(oldest)
      places.add(placeOf(exported, after))
    },
  }
}

/** @throws DomainError `invalid_request` */
function toFilters(query: Static<typeof Query>, nowMs: number): ExportFilters {
  const { category = null, stream = null, type = null, since = null, until = null } = query
  const filters = { category, stream, type, since, until }
  const problem = filterProblem(filters, nowMs)
  if (problem !== undefined) throw invalidQuery(problem.field, problem.message)
  return filters
}

const invalidQuery = (field: string, message: string) => invalidInput('querystring', [{ field, message }])
