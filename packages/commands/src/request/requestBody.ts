// Helpers for request bodies: optional fields, the chosen provider, and the check for card numbers.

import { foldEmail } from '@paylog/domain/actor'
import { cardNumberError, findCardData } from '@paylog/domain/cardNumber'
import { DomainError } from '@paylog/domain/errors'
import { Email, maxTextLength, Nullable } from '@paylog/domain/fields'
import { valueAt } from '@paylog/providers/lenient'
import type { Provider } from '@paylog/providers/provider'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'

type FieldOptions = { readonly description?: string }

export const optionalText = (options: FieldOptions = {}) =>
  Type.Optional(Nullable(Type.String({ maxLength: maxTextLength, ...options })))

export const optionalEmail = (options: FieldOptions = {}) =>
  Type.Optional(Nullable(Type.String({ format: 'email', maxLength: maxTextLength, ...options })))

/** Where a body has an e-mail. */
const emailPaths: readonly (readonly string[])[] = [
  ['email'],
  ['guest_email'],
  ['guest_data', 'email'],
  ['billing_details', 'email'],
]
const typedEmail = Compile(Email)
/** Stands for the caller's own e-mail while a body is validated. */
const validEmail = 'own@example.com'

function isOwnEmail({ actor }: FastifyRequest, text: unknown): text is string {
  const own = actor.kind === 'guest' ? actor.guest_email : actor.kind === 'session' ? actor.user_email : null
  return own !== null && typeof text === 'string' && foldEmail(text) === foldEmail(own)
}

/**
 * Two hooks of a route whose bodies have an e-mail: the e-mail that the caller's credential states is always valid, because
 * the identity backend accepted it. `hide` comes last before the validation, `restore` first after it.
 */
export function ownEmailHooks() {
  const hidden = new WeakMap<FastifyRequest, readonly { readonly path: readonly string[]; readonly typed: string }[]>()
  return {
    async hide(request: FastifyRequest): Promise<void> {
      const found = emailPaths.flatMap((path) => {
        const typed = valueAt(request.body, ...path)
        return isOwnEmail(request, typed) && !typedEmail.Check(typed) ? [{ path, typed }] : []
      })
      for (const { path } of found) setAt(request.body, path, validEmail)
      if (found.length > 0) hidden.set(request, found)
    },
    async restore(request: FastifyRequest): Promise<void> {
      for (const { path, typed } of hidden.get(request) ?? []) setAt(request.body, path, typed)
    },
  }
}

function setAt(body: unknown, path: readonly string[], value: string): void {
  const holder = valueAt(body, ...path.slice(0, -1))
  if (typeof holder === 'object' && holder !== null) Reflect.set(holder, path.at(-1) ?? '', value)
}

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
