// POST /payment-methods/setup-intent creates a setup intent (interface, section 4.4).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { RequiredText } from '@paylog/domain/fields'
import { optionalBody } from '@paylog/runtime/http/openApiSchemas'
import { allowEmptyBody, defaultBody } from '@paylog/runtime/http/optionalBody'
import { Type } from 'typebox'
import { chosenProviderId, createCardNumberCheck } from '../request/requestBody.ts'
import { type CommandDependencies, repeatableRequest, sessionOf } from '../request/requestContext.ts'
import { IdempotencyHeaders } from '../request/requestIdentity.ts'
import { providerErrors, responseHeaders, setWriteHeaders, writeErrors } from '../request/responses.ts'
import {
  type CreatedSetupIntent,
  createSetupIntent,
  createsSetupIntents,
  earlierSetupIntent,
  toCreatedSetupIntent,
} from './createSetupIntent.ts'

const route = '/payment-methods/setup-intent'

const SetupIntentBody = Type.Object(
  {
    provider_id: Type.Optional(
      Type.With(RequiredText, { description: 'Optional when only one enabled provider has setup intents' }),
    ),
  },
  { examples: [{ provider_id: 'sandbox' }] },
)

const SetupIntentResponse = Type.Object(
  {
    success: Type.Literal(true),
    setup_intent_id: Type.String({ description: "The provider's id" }),
    client_secret: Type.String({ description: 'The frontend confirms the setup with it' }),
  },
  {
    title: 'SetupIntent',
    description: 'The setup intent was created',
    headers: responseHeaders.started,
    examples: [{ success: true, setup_intent_id: 'seti_1', client_secret: 'seti_1_secret' }],
  },
)

export const setupIntentRoutes =
  ({ workflow }: CommandDependencies): FastifyPluginAsyncTypebox =>
  async (app) => {
    const rejectCardNumbers = createCardNumberCheck(app)
    app.post(
      route,
      {
        // All fields are optional, so the body is too.
        config: { callers: 'session' },
        onRequest: allowEmptyBody,
        preValidation: defaultBody,
        schema: {
          ...writeErrors([...providerErrors, 'idempotency_key_reused']),
          ...optionalBody,
          operationId: 'createSetupIntent',
          tags: ['payment methods'],
          summary: 'Create a setup intent',
          description:
            'For sessions. The body is optional. The frontend confirms the setup with the client_secret and then saves the method with POST /payment-methods. Uses an existing customer of the user at the provider; none is created. With an Idempotency-Key the request can be repeated safely.',
          headers: IdempotencyHeaders,
          body: SetupIntentBody,
          response: { 201: SetupIntentResponse },
        },
      },
      async (request, reply) => {
        const { body } = request
        const identity = repeatableRequest(workflow, request, `POST ${route}`)
        const { user_id } = sessionOf(request)
        const earlier = await earlierSetupIntent(workflow, identity)
        let created: CreatedSetupIntent
        if (earlier.state) created = toCreatedSetupIntent(identity, earlier)
        else {
          const provider_id = chosenProviderId(body, workflow.providers, createsSetupIntents)
          rejectCardNumbers(request)
          created = await createSetupIntent(workflow, { ...identity, user_id, provider_id }, earlier)
        }
        const { setup_intent, position, replayed } = created
        reply.code(201)
        setWriteHeaders(reply, { position, replayed })
        const { provider_setup_intent_id: setup_intent_id, client_secret } = setup_intent
        return { success: true as const, setup_intent_id, client_secret }
      },
    )
  }
