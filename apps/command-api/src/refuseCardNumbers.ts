// Refuses requests that hold a card number anywhere, before anything of them is recorded or logged.
import { holdsCardNumber } from '@paylog/domain/cardNumber'
import { DomainError } from '@paylog/domain/errors'
import type { FastifyInstance } from 'fastify'

/**
 * Looks at the body as it came, since fields that validation drops count too, and refuses after validation, because a
 * malformed request is answered as such.
 */
export function refuseCardNumbers(app: FastifyInstance): void {
  const suspicious = new WeakSet<object>()
  app.addHook('preValidation', async (request) => {
    if (holdsCardNumber(request.body)) suspicious.add(request)
  })
  app.addHook('preHandler', async (request) => {
    if (suspicious.has(request))
      throw new DomainError(
        'card_number_rejected',
        'The request holds a card number; send a token of the provider instead',
      )
  })
}
