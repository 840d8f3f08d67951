// GET and POST /admin/privacy/erasures: who was erased, and erasing a person.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { metadataOf } from '@paylog/commands/request/requestContext'
import { DomainError } from '@paylog/domain/errors'
import { exampleId } from '@paylog/domain/examples'
import { Id, RequiredText } from '@paylog/domain/fields'
import type { Subject } from '@paylog/privacy/dataKeys'
import { audited } from '@paylog/runtime/http/guardRoutes'
import { wholeList } from '@paylog/runtime/http/listFiles'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import { invalidInput } from '@paylog/runtime/http/validation'
import { type Static, Type } from 'typebox'
import { requestedJob } from '../jobs/jobs.ts'
import { jobResponse } from '../jobs/routes.ts'
import { administratorSchema } from '../routeSchemas.ts'
import { type ErasureDependencies, erasureJob, isKnown } from './erasureJob.ts'
import { Erasure, listErasures } from './listErasures.ts'

const exampleUser = '00000000-0000-4000-8000-000000000003'

const NewErasure = Type.Object(
  {
    user_id: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'A user of yours' })),
    guest_email: Type.Optional(
      Type.With(RequiredText, { description: 'A guest, and every user that was seen with this e-mail' }),
    ),
    payment_id: Type.Optional(Type.With(Id, { description: 'An anonymous payment, whose payer is erased' })),
    dry_run: Type.Optional(Type.Boolean({ description: 'Only list what would go' })),
  },
  {
    title: 'NewErasure',
    examples: [{ user_id: exampleUser, dry_run: true }],
  },
)
type NewErasure = Static<typeof NewErasure>

const exampleErasure: Erasure = {
  id: exampleId,
  kind: 'person',
  occurred_at: '2026-01-31T12:00:00.000Z',
  actor: `session:${exampleUser}`,
  keys: 2,
}

const listSchema = {
  ...administratorSchema('privacy', 'listErasures', 'List erasures', 'event_store_unavailable'),
  description:
    'For administrators. The newest erasures in the log, the last one first. They do not say who was erased.',
  querystring: Type.Object({
    limit: Type.Integer({ minimum: 1, maximum: 500, default: 100, description: 'The number of erasures' }),
  }),
  response: {
    200: dataResponse(Type.Array(Erasure), {
      description: 'The erasures',
      examples: [[exampleErasure]],
    }),
  },
}

const createSchema = {
  ...administratorSchema(
    'privacy',
    'createErasure',
    'Erase a person',
    'not_found',
    'job_running',
    'service_unavailable',
  ),
  description: [
    'For administrators. Erases the personal data of a user, a guest or the payer of an anonymous payment, for good: destroys the ' +
      'keys that it is sealed with, deletes the customers and saved methods at the providers, and waits until read models and ' +
      'webhooks are emptied. Amounts, times, statuses, our ids and the user id stay. Which e-mails were erased is not kept: an ' +
      'erasure by e-mail starts also when nothing is known of it, and `keys` in its result is 0.',
    'The job reads the whole log. Its result has counts and ids; `is_complete` is false when a provider could not delete ' +
      'something, or something derived is not emptied yet: `at_providers` and `behind` say what. The same request finishes it. ' +
      'With `dry_run` the result lists what would go, and nothing changes.',
  ].join('\n\n'),
  body: NewErasure,
  response: { 202: jobResponse('The job, which has started. Its subject is the id of the erasure') },
}

export function privacyRoutes(dependencies: ErasureDependencies): FastifyPluginAsyncTypebox {
  const { store, keys, jobs, pool } = dependencies
  const file = wholeList({ name: 'erasures', item: Erasure, example: exampleErasure }, () => listErasures(store))
  return async (http) => {
    http.get(
      '/admin/privacy/erasures',
      { config: { right: 'privacy', file }, schema: listSchema },
      async ({ query }) => ({
        success: true as const,
        data: await listErasures(store, query),
      }),
    )

    /** The id of the request is that of its erasure. */
    const erase = audited(createSchema, 'erase_person', async ({ id, body }) => {
      const subject = subjectOf(body)
      const keyIds = await keys.find(subject)
      if (keyIds.length === 0 && !(await isKnown({ pool, store }, subject)))
        throw new DomainError('not_found', 'Nothing is known of this person')
      const details = { by: Object.keys(subject)[0], keys: keyIds.length }
      return body.dry_run ? undefined : { target: { kind: 'erasure', id }, details }
    })
    const config = { right: 'privacy', audited: erase } as const
    http.post('/admin/privacy/erasures', { config, schema: createSchema }, async (request, reply) => {
      const { body, id: erasureId } = request
      const isDryRun = body.dry_run === true
      const data = await jobs.start(
        requestedJob(request, { kind: 'erase', subject: erasureId, isDryRun }),
        erasureJob(dependencies, {
          ...{ erasureId, subject: subjectOf(body), metadata: metadataOf(request), isDryRun },
        }),
      )
      reply.code(202)
      return { success: true as const, data }
    })
  }
}

/** @throws DomainError `invalid_request` unless the body names one person */
function subjectOf({ user_id: user, guest_email: email, payment_id: payment }: NewErasure): Subject {
  const named = [
    ...(user === undefined ? [] : [{ user }]),
    ...(email === undefined ? [] : [{ email }]),
    ...(payment === undefined ? [] : [{ payment }]),
  ]
  const [subject] = named
  if (subject === undefined || named.length > 1)
    throw invalidInput('body', [
      { field: 'user_id', message: 'or guest_email or payment_id must be there, and only one' },
    ])
  return subject
}
