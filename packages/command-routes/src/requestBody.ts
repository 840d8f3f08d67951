// Helpers for request bodies: optional fields, the chosen provider, and the check for card numbers.

import { cardNumberError, findCardData } from '@paylog/domain/cardNumber'
import { DomainError } from '@paylog/domain/errors'
import { maxTextLength, Nullable } from '@paylog/domain/fields'
import type { Provider } from '@paylog/providers/provider'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'

type FieldOptions = { readonly description?: string }

export const optionalText = (options: FieldOptions = {}) =>
  Type.Optional(Nullable(Type.String({ maxLength: maxTextLength, ...options })))

export const optionalEmail = (options: FieldOptions = {}) =>
  Type.Optional(Nullable(Type.String({ format: 'email', maxLength: maxTextLength, ...options })))

/**
 * The provider that a body names; optional when only one is enabled, or only one of the enabled ones can do it.
 * @param providers the enabled ones
 * @param can whether a provider can do what is requested
 * @throws DomainError `invalid_request` when it is missing and there are several
 */
export function chosenProviderId(
  body: { readonly provider_id?: string },
  providers: ReadonlyMap<string, Provider>,
  can: (provider: Provider) => boolean = () => true,
): string {
  if (body.provider_id !== undefined) return body.provider_id
  const able = [...providers.values()].filter(can)
  const enabled = (able.length === 0 ? [...providers.values()] : able).map(({ id }) => id)
  const [only, ...others] = enabled
  if (only !== undefined && others.length === 0) return only
  throw new DomainError('invalid_request', 'provider_id is required', {
    fields: [{ field: 'provider_id', message: 'is required' }],
    enabled,
  })
}

/**
 * Rejects requests with a card number or security code, before any part of them is recorded or logged. A hook keeps each
 * original body, so that fields which validation drops are searched too.
 * @returns the check, which a handler calls once the request is otherwise valid. It throws DomainError
 *   `card_number_rejected` with the field in `details.fields`
 */
export function createCardNumberCheck(app: FastifyInstance): (request: FastifyRequest) => void {
  const unsearched = new WeakMap<FastifyRequest, unknown>()
  app.addHook('preValidation', (request, _reply, done) => {
    unsearched.set(request, request.body)
    done()
  })
  return (request) => {
    const found = findCardData(unsearched.get(request))
    if (found !== null) throw cardNumberError(found)
    // A handler that retries after a conflict calls this again.
    unsearched.delete(request)
  }
}
