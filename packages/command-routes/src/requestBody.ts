// Fields of bodies that clients may leave out, or send as null to say nothing or to clear what is there.

import { findCardData } from '@paylog/domain/cardNumber'
import { DomainError } from '@paylog/domain/errors'
import { maxTextLength, Nullable } from '@paylog/domain/fields'
import type { Provider } from '@paylog/providers/provider'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'

type FieldOptions = { readonly description?: string }

export const optionalText = (about: FieldOptions = {}) =>
  Type.Optional(Nullable(Type.String({ maxLength: maxTextLength, ...about })))

export const optionalEmail = (about: FieldOptions = {}) =>
  Type.Optional(Nullable(Type.String({ format: 'email', maxLength: maxTextLength, ...about })))

// Lets a request come without a body, whatever type it says that the body has.

/** An `onRequest` hook: many clients send `content-type: application/json` with every request, and an empty text is no JSON. */
export async function allowEmptyBody({ headers }: FastifyRequest): Promise<void> {
  const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
  if (isEmpty) delete headers['content-type']
}

// Which provider a request is for.

/**
 * The provider that a body asks for; it may be left out when only one is enabled.
 * @throws DomainError `invalid_request` when it is left out and several are enabled
 */
export function chosenProviderId(
  body: { readonly provider_id?: string },
  providers: ReadonlyMap<string, Provider>,
): string {
  if (body.provider_id !== undefined) return body.provider_id
  const [only, ...others] = providers.keys()
  if (only !== undefined && others.length === 0) return only
  throw new DomainError('invalid_request', 'provider_id is required', {
    fields: [{ field: 'provider_id', message: 'is required' }],
    enabled: [...providers.keys()],
  })
}

// Rejects requests that hold a card number or a security code anywhere, before anything of them is recorded or logged.

/**
 * Keeps every body of the scope as it came, since the fields that validation drops are searched too.
 * @returns what a handler calls once the request is otherwise in order: a malformed one is rejected as such, and costs no
 *   search. It throws DomainError `card_number_rejected` with the field in `details.fields`
 */
export function createCardNumberCheck(app: FastifyInstance): (request: FastifyRequest) => void {
  const unsearched = new WeakMap<FastifyRequest, unknown>()
  app.addHook('preValidation', async (request) => {
    unsearched.set(request, request.body)
  })
  return (request) => {
    const found = findCardData(unsearched.get(request))
    if (found !== null)
      throw new DomainError(
        'card_number_rejected',
        'The request holds the number or security code of a card; send a token of the provider instead',
        { fields: [found] },
      )
    // A handler that decides again after a conflict asks again.
    unsearched.delete(request)
  }
}
