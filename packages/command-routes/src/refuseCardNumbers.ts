// Rejects requests that hold a card number or a security code anywhere, before anything of them is recorded or logged.
import { findCardData } from '@paylog/domain/cardNumber'
import { DomainError } from '@paylog/domain/errors'
import type { FastifyInstance, FastifyRequest } from 'fastify'

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
