// Refuses requests that hold a card number anywhere, before anything of them is recorded or logged.
import { holdsCardNumber } from '@paylog/domain/cardNumber'
import { DomainError } from '@paylog/domain/errors'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/**
 * Looks at every body of the scope as it came, since fields that validation drops count too.
 * @returns what a handler calls when the request is otherwise in order, because a malformed one is answered as such; it
 *   throws DomainError `card_number_rejected`
 */
export function watchForCardNumbers(app: FastifyInstance): (request: FastifyRequest) => void {
  const suspicious = new WeakSet<object>()
  app.addHook('preValidation', async (request) => {
    if (holdsCardNumber(request.body)) suspicious.add(request)
  })
  return (request) => {
    if (suspicious.has(request))
      throw new DomainError(
        'card_number_rejected',
        'The request holds a card number; send a token of the provider instead',
      )
  }
}
