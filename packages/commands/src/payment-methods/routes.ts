// POST /payment-methods, PUT and DELETE /payment-methods/{id} (interface, sections 2.3 and 4.5).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ownerOf } from '@paylog/domain/actor'
import { exampleMethod } from '@paylog/domain/examples'
import { fieldsOf, Nullable, RequiredText } from '@paylog/domain/fields'
import { requestInFlightMs } from '@paylog/domain/idempotentRequest'
import { billingAddressFields, billingFields } from '@paylog/domain/payment-methods/events'
import {
  existingMethod,
  PaymentMethodResource,
  type PaymentMethodState,
  paymentMethodResource,
} from '@paylog/domain/payment-methods/paymentMethod'
import { knownActor } from '@paylog/runtime/http/callers'
import { allowEmptyBody } from '@paylog/runtime/http/optionalBody'
import { unchangeable } from '@paylog/runtime/http/unknownFields'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { ShownItem } from '../defaults.ts'
import { earlierRequest } from '../request/idempotentRequests.ts'
import { changedData, itemTarget, oneItem, orIdOnly } from '../request/ownedItems.ts'
import {
  chosenProviderId,
  createCardNumberCheck,
  optionalEmail,
  optionalText,
  ownEmailHooks,
} from '../request/requestBody.ts'
import { type CommandDependencies, repeatableRequest } from '../request/requestContext.ts'
import { IdempotencyHeaders } from '../request/requestIdentity.ts'
import {
  deletedResponse,
  idempotencyErrors,
  providerErrors,
  replayedHeader,
  replyWith,
  responseHeaders,
  responsesWith,
  setReplayedHeader,
  writeErrors,
} from '../request/responses.ts'
import { changeSavedMethod, removeSavedMethod } from './changeSavedMethod.ts'
import { type MethodOptions, replaySaved, type SaveOutcome, savePaymentMethod } from './savePaymentMethod.ts'

/** An Authorize.Net token is the payer's encrypted form, some thousand characters; those of Stripe and PayPal are short ids. */
const maxTokenLength = 8_000

const BillingDetailsBody = Type.Object({
  ...fieldsOf(billingFields, () => optionalText()),
  email: optionalEmail(),
  address: Type.Optional(Nullable(Type.Object(fieldsOf(billingAddressFields, () => optionalText())))),
})

const NewMethodBody = Type.Object(
  {
    payment_method_token: Type.String({
      minLength: 1,
      maxLength: maxTokenLength,
      description: "Issued by the provider's form in the frontend; sent to the provider and not stored",
    }),
    type: optionalText({ description: 'Returned as it was sent; has no other effect' }),
    wallet_type: optionalText({ description: 'Used unless the provider reports one' }),
    provider_id: Type.Optional(RequiredText),
    customer_id: optionalText({ description: 'Has no effect: Paylog manages the customer at the provider' }),
    organization_id: optionalText({ description: 'Returned as it was sent; has no other effect' }),
    alias: optionalText(),
    billing_address_id: optionalText({ description: "The id of one of the caller's addresses" }),
    billing_details: Type.Optional(Nullable(BillingDetailsBody)),
    is_default: Type.Optional(Type.Boolean()),
    guest_email: optionalText({ description: "Has no effect: a guest's method has the token's e-mail" }),
  },
  {
    title: 'NewPaymentMethod',
    examples: [
      { payment_method_token: 'pm_card_visa', provider_id: 'sandbox' },
      {
        payment_method_token: 'pm_card_mastercard',
        type: 'card',
        provider_id: 'sandbox',
        alias: 'Everyday card',
        billing_details: {
          name: 'Ada Example',
          email: 'ada@example.com',
          phone: '+49 30 000000',
          address: { line1: '1 Sample Street', city: 'Berlin', postal_code: '10115', country: 'DE' },
        },
        is_default: true,
      },
    ],
  },
)
type NewMethodBody = Static<typeof NewMethodBody>

const changeable = {
  alias: optionalText({ description: 'null clears it' }),
  is_default: Type.Optional(Type.Boolean()),
}
const MethodChangeBody = Type.Object(
  { ...changeable, ...unchangeable(changeable, NewMethodBody, PaymentMethodResource) },
  {
    title: 'PaymentMethodChange',
    minProperties: 1,
    examples: [{ alias: 'Everyday card', is_default: true }, { alias: null }],
  },
)

/** All options, with `null` for omitted ones. */
function methodOptionsOf(body: NewMethodBody): MethodOptions {
  return {
    type: body.type ?? null,
    wallet_type: body.wallet_type ?? null,
    organization_id: body.organization_id ?? null,
    alias: body.alias ?? null,
    // Ids are case-insensitive.
    billing_address_id: body.billing_address_id?.toLowerCase() ?? null,
    billing_details: body.billing_details ? billingDetailsOf(body.billing_details) : null,
    is_default: body.is_default ?? false,
  }
}

function billingDetailsOf(details: Static<typeof BillingDetailsBody>) {
  const { address } = details
  return {
    ...fieldsOf(billingFields, (name) => details[name] ?? null),
    address: address ? fieldsOf(billingAddressFields, (name) => address[name] ?? null) : null,
  }
}

const methodResponse = responsesWith(exampleMethod)
const tags = ['payment methods']

const saveSchema = {
  ...writeErrors([...providerErrors, ...idempotencyErrors, 'reference_not_found'], { 402: replayedHeader }),
  tags,
  operationId: 'createPaymentMethod',
  summary: 'Save a payment method',
  description:
    "For a session, or a guest with a token. A user's method is attached to the user's customer at the provider, which is created with the first method; a guest's method is read but not attached. Brand, last four digits and expiry come from the provider. If its owner saves a method again, the existing method is returned, and only is_default: true takes effect. With an Idempotency-Key the request can be repeated safely.",
  headers: IdempotencyHeaders,
  body: NewMethodBody,
  response: {
    201: methodResponse(PaymentMethodResource, 'The method was saved'),
    200: methodResponse(PaymentMethodResource, 'The caller had already saved it'),
  },
}

const changeSchema = {
  ...oneItem('payment method'),
  tags,
  operationId: 'updatePaymentMethod',
  summary: 'Update a payment method',
  description:
    'Changes the alias, and whether the method is the default: with is_default it replaces the previous one. Omitted fields stay as they are. With If-Match the method is changed only if the ETag still matches.',
  body: MethodChangeBody,
  response: {
    200: methodResponse(orIdOnly(PaymentMethodResource), 'The updated method', responseHeaders.changed),
  },
}

const removeSchema = {
  ...oneItem('payment method', providerErrors),
  tags,
  operationId: 'deletePaymentMethod',
  summary: 'Delete a payment method',
  description:
    "A user's method is first detached at the provider; if that fails, nothing is deleted. With If-Match the method is deleted only if the ETag still matches.",
  response: { 200: deletedResponse('The method was deleted') },
}

export const paymentMethodRoutes =
  ({ workflow }: CommandDependencies): FastifyPluginAsyncTypebox =>
  async (app) => {
    const rejectCardNumbers = createCardNumberCheck(app)
    const ownEmail = ownEmailHooks()
    const targetOf = (request: FastifyRequest, id: string) => itemTarget(request, id, rejectCardNumbers)

    const saving = {
      config: { callers: 'sessionOrGuest' },
      preValidation: ownEmail.hide,
      preHandler: ownEmail.restore,
    } as const
    app.post('/payment-methods', { ...saving, schema: saveSchema }, async (request, reply) => {
      const { body } = request
      const caller = knownActor(request.actor)
      const identity = repeatableRequest(workflow, request, 'POST /payment-methods')
      const owned = { ...identity, caller, owner: ownerOf(caller), inFlightMs: requestInFlightMs }
      const earlier = await earlierRequest(workflow, owned)
      let outcome: SaveOutcome
      if (earlier.recorded) outcome = await replaySaved(workflow, owned, earlier.recorded)
      else {
        const provider_id = chosenProviderId(body, workflow.providers)
        rejectCardNumbers(request)
        const method = { provider_id, token: body.payment_method_token, options: methodOptionsOf(body) }
        outcome = await savePaymentMethod(workflow, { ...owned, ...method }, earlier)
      }
      if (outcome.kind === 'declined') {
        setReplayedHeader(reply)
        throw outcome.error
      }
      reply.code(outcome.created ? 201 : 200)
      return replyWith(reply, outcome, shown(outcome))
    })

    app.put(
      '/payment-methods/:id',
      { config: { callers: 'sessionOrRememberedGuest' }, schema: changeSchema },
      async (request, reply) => {
        const target = targetOf(request, request.params.id)
        const changed = await changeSavedMethod(workflow, { ...request.body, ...target })
        return replyWith(reply, changed, changedData(request.actor, shown(changed)))
      },
    )

    app.delete(
      '/payment-methods/:id',
      { config: { callers: 'sessionOrRememberedGuest' }, onRequest: allowEmptyBody, schema: removeSchema },
      async (request, reply) => {
        const target = targetOf(request, request.params.id)
        const { position } = await removeSavedMethod(workflow, target)
        return replyWith(reply, { position }, { id: target.id, deleted: true as const })
      },
    )
  }

function shown({ state, is_default }: ShownItem<PaymentMethodState>): PaymentMethodResource {
  return paymentMethodResource(existingMethod(state), is_default)
}
