// The endpoint that receives the campaign's webhooks, canonical and raw, and records each request.
import { createHmac, randomBytes } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { listen } from '@paylog/testing/fakeServer'
import type { Webhook } from '../judge/observations.ts'
import type { Random } from '../random.ts'

const rejectedShare = 0.02
const modes = ['canonical', 'raw'] as const

export type CampaignEndpoint = {
  readonly env: Readonly<Record<string, string>>
  readonly received: readonly Webhook[]
}

export async function startEndpoint(stack: AsyncDisposableStack, random: Random): Promise<CampaignEndpoint> {
  const received: Webhook[] = []
  const key = randomBytes(32)
  const server = createServer((request, response) => {
    text(request).then(
      (body) => {
        const mode = request.url === '/raw' ? 'raw' : 'canonical'
        received.push(webhookIn(mode, { headers: request.headers, body, key }))
        response.writeHead(random.isIn(rejectedShare) ? 503 : 200).end()
      },
      // The worker was killed during the request.
      () => response.destroy(),
    )
  })
  const origin = await listen({ teardown: (stop: () => unknown) => void stack.defer(async () => void stop()) }, server)
  const variables = modes.flatMap((mode, index) =>
    Object.entries({
      ENABLED: 'true',
      URL: `${origin}/${mode}`,
      EVENT_MODE: mode,
      SECRET: `whsec_${key.toString('base64')}`,
      RETRY_SCHEDULE: '200ms,500ms,1s,2s,4s,8s',
    }).map(([name, value]) => [`WEBHOOK_${index + 1}_${name}`, value]),
  )
  return { env: { ...Object.fromEntries(variables), WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8' }, received }
}

function webhookIn(
  mode: Webhook['mode'],
  { headers, body, key }: { readonly headers: IncomingHttpHeaders; readonly body: string; readonly key: Buffer },
): Webhook {
  const id = String(headers['webhook-id'])
  const digest = createHmac('sha256', key).update(`${id}.${headers['webhook-timestamp']}.${body}`).digest('base64')
  const { event, data } = JSON.parse(body)
  const isCanonical = mode === 'canonical'
  return {
    mode,
    webhook_id: id,
    is_signed: String(headers['webhook-signature']).split(' ').includes(`v1,${digest}`),
    event: String(event),
    payment_id: isCanonical ? data.payment_id : null,
    status: isCanonical ? data.status : null,
    amount_cents: isCanonical ? data.amount : null,
    notification_id: isCanonical ? null : data.id,
  }
}
