// GET /admin/payments/{id}/proof: the file of `ops audit prove payment`.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { PaymentProof, provePayment } from '@paylog/audit-log/paymentProof'
import { DomainError } from '@paylog/domain/errors'
import { exampleId } from '@paylog/domain/examples'
import { recordedId } from '@paylog/domain/fields'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { RawEvent } from '@paylog/event-store/read/rawEvent'
import { paymentStream } from '@paylog/event-store/streamName'
import { audited } from '@paylog/runtime/http/guardRoutes'
import { Type } from 'typebox'
import { administratorSchema, type OperatorDependencies } from '../routeSchemas.ts'

const example: PaymentProof = {
  format: 1,
  payment: exampleId,
  checkpoint: [
    'payments.example.com/log\n1200\nUNhY4JhezH9gQYqvDMWrWH9CwlcKiECVqejMrND2VFw=\n',
    '— payments.example.com/log oaUjEpPI55uoguMERrwy6OBQgUpQZJUMraG30YGC8dRchvz/HkEN8GLfRK+Jgw1lvnpyOXE5uqFC0o+LQ3pqHWLNmgo=\n',
  ].join('\n'),
  events: [
    {
      index: 17,
      stream: `payment-${exampleId}`,
      revision: '0',
      id: '018f0000-0000-7000-8000-0000000000ee',
      type: 'PaymentInitiated',
      data: `{"payment_id":"${exampleId}","amount_cents":2599,"currency":"EUR"}`,
      metadata: '{"actor":"anonymous"}',
      proof: ['tGsp3pbZjhbQXaGgdO6fGxrFzpDCIUIYhKvhpXgLrzA='],
    },
  ],
}

const schema = {
  ...administratorSchema('payments', 'provePayment', 'Prove a payment', 'not_found', 'event_store_unavailable'),
  description: [
    'For administrators. The file of `ops audit prove payment`: the events of the payment, byte for byte, with the hashes that lead from ' +
      'each of them to a signed checkpoint of the log. Whoever has the verifier key can check it, with `ops audit check-proof` or ' +
      '`verifyPaymentProof` of the client, and needs to trust nobody else. Later events of the payment may exist.',
    '404 also while no checkpoint covers the newest event yet: the message says it, and one is signed every minute. Personal data in the ' +
      'file is sealed. Each proof is recorded in the audit trail.',
  ].join('\n\n'),
  params: Type.Object({ id: Type.String({ description: 'The id of the payment' }) }),
  response: {
    200: Type.Unsafe<PaymentProof>({
      ...PaymentProof,
      description: 'The proof',
      headers: { 'Content-Disposition': Type.String({ description: 'Names the file' }) },
      examples: [example],
    }),
  },
}

export function proofRoutes({ store, pool }: OperatorDependencies): FastifyPluginAsyncTypebox {
  return async (http) => {
    const show = audited(schema, 'show_payment', ({ params: { id } }) => ({
      target: { kind: 'payment', id: idOf(id) },
      details: { proof: true },
    }))
    const config = { right: 'export', audited: show } as const
    http.get('/admin/payments/:id/proof', { config, schema }, async ({ params }, reply) => {
      const id = idOf(params.id)
      const events = await eventsOf(store, id)
      if (events.length === 0) throw noPayment()
      const proof = await provePayment(pool, id, events)
      if ('missing' in proof) throw new DomainError('not_found', proof.missing)
      reply.header('content-disposition', `attachment; filename="payment-${id}.proof.json"`)
      return proof
    })
  }
}

const noPayment = () => new DomainError('not_found', 'No payment with this id')

/** @throws DomainError `not_found` */
function idOf(text: string): string {
  const id = recordedId(text)
  if (id === null) throw noPayment()
  return id
}

const pageEvents = 500

async function eventsOf(store: Pick<EventStore, 'readRawPage'>, id: string): Promise<readonly RawEvent[]> {
  const events: RawEvent[] = []
  for (;;) {
    const page = await store.readRawPage(paymentStream(id), BigInt(events.length), pageEvents)
    events.push(...page.events)
    if (page.isLast) return events
  }
}
