// What the pages for operators answer, as the documentation says it.
import { Type } from 'typebox'
import { errorResponses } from './openApiParts.ts'

/** The tag of these pages, which are beside the API. */
export const operationsTag = 'operations'

const common = { tags: [operationsTag] }
const limited = { ...common, ...errorResponses(['rate_limited']) }

export const livenessSchema = {
  ...common,
  operationId: 'getLiveness',
  summary: 'Tell whether the process lives',
  description: 'Open to anybody. Whatever the process depends on is not asked.',
  response: {
    200: Type.Object(
      { status: Type.Literal('live') },
      { description: 'It answers, so it lives', examples: [{ status: 'live' }] },
    ),
  },
}

/** Details differ from check to check, so that they are shown as they are. */
const Checks = Type.Unsafe<object>({
  type: 'object',
  additionalProperties: { type: 'object', required: ['ok'], additionalProperties: true },
  description: 'Each dependency by its name: `ok`, and details of its own',
})

const readiness = (description: string, statuses: string[], examples: object[]) =>
  Type.Object({ status: Type.Enum(statuses), checks: Checks }, { description, examples })

export const readinessSchema = {
  ...limited,
  operationId: 'getReadiness',
  summary: 'Tell whether requests can be served',
  description:
    'Open to anybody. Every dependency is asked, at most for two seconds and once a second; why one fails is for the log.',
  response: {
    200: readiness(
      'Everything that it needs answers',
      ['ready'],
      [{ status: 'ready', checks: { event_store: { ok: true, head: '4711' } } }],
    ),
    503: readiness(
      'Something that it needs does not answer, or the process is stopping',
      ['unavailable', 'stopping'],
      [
        { status: 'unavailable', checks: { event_store: { ok: false } } },
        { status: 'stopping', checks: {} },
      ],
    ),
  },
}

export const metricsSchema = {
  ...limited,
  operationId: 'getMetrics',
  summary: 'Get the figures of this process',
  description: 'Open to anybody. In the text format of Prometheus.',
  produces: ['text/plain'],
  response: {
    200: Type.String({
      description: 'One line for each figure and set of labels, with what it is before it',
      examples: ['# TYPE commands_total counter\ncommands_total{command="createPaymentIntent",outcome="ok"} 42\n'],
    }),
  },
}
