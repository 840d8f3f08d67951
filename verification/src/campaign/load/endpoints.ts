// The endpoints that receive the campaign's webhooks, and the auditor who receives the signed checkpoints of the log.
import { createHash, createHmac, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { listen, valueAt } from '@paylog/testing/fakeServer'
import type { Endpoint, Webhook } from '../judge/observations.ts'
import type { Random } from '../random.ts'
import { checkpointInterval, endpoints, rejectedWebhookShare } from './settings.ts'

export type CampaignEndpoints = {
  readonly env: Readonly<Record<string, string>>
  readonly received: readonly Webhook[]
  readonly checkpoints: readonly string[]
  readonly verifierKey: string
}

export async function startEndpoints(stack: AsyncDisposableStack, random: Random): Promise<CampaignEndpoints> {
  const received: Webhook[] = []
  const checkpoints: string[] = []
  const secrets = new Map(endpoints.map(({ name }) => [name, randomBytes(32)]))
  const server = createServer((request, response) => {
    // The projector asks for the newest checkpoint when it starts.
    if (request.method === 'GET') {
      const newest = checkpoints.at(-1)
      response.writeHead(newest === undefined ? 404 : 200).end(newest)
      return
    }
    text(request).then(
      (body) => {
        const endpoint = endpoints.find(({ name }) => request.url === `/${name}`)
        if (endpoint === undefined) checkpoints.push(body)
        else received.push(webhookIn(endpoint, request.headers, { body, secret: secrets.get(endpoint.name) }))
        const isRejected = endpoint !== undefined && random.isIn(rejectedWebhookShare)
        response.writeHead(isRejected ? 503 : 200).end()
      },
      // The worker was killed during the request.
      () => response.destroy(),
    )
  })
  const origin = await listen({ teardown: (stop: () => unknown) => void stack.defer(async () => void stop()) }, server)
  const variables = endpoints.flatMap(({ name, mode, events }) =>
    Object.entries({
      ENABLED: 'true',
      URL: `${origin}/${name}`,
      EVENT_MODE: mode,
      EVENTS: events,
      SECRET: `whsec_${secrets.get(name)?.toString('base64')}`,
      RETRY_SCHEDULE: '200ms,500ms,1s,2s,4s,8s,16s',
    }).map(([variable, value]) => [`WEBHOOK_${name}_${variable}`, value]),
  )
  const { signingKey, verifierKey } = newKeys('campaign.example/log')
  return {
    env: {
      ...Object.fromEntries(variables),
      WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
      AUDIT_SIGNING_KEY: signingKey,
      AUDIT_CHECKPOINT_URL: `${origin}/checkpoints`,
      AUDIT_CHECKPOINT_INTERVAL: checkpointInterval,
    },
    received,
    checkpoints,
    verifierKey,
  }
}

function webhookIn(
  { name, mode }: Endpoint,
  headers: IncomingHttpHeaders,
  { body, secret }: { readonly body: string; readonly secret: Buffer | undefined },
): Webhook {
  const id = String(headers['webhook-id'])
  const content = `${id}.${headers['webhook-timestamp']}.${body}`
  const digest = createHmac('sha256', secret ?? '')
    .update(content)
    .digest('base64')
  const { event, data } = JSON.parse(body)
  const isCanonical = mode === 'canonical'
  return {
    endpoint: name,
    webhook_id: id,
    is_signed: String(headers['webhook-signature']).split(' ').includes(`v1,${digest}`),
    event: String(event),
    payment_id: isCanonical ? data.payment_id : null,
    status: isCanonical ? data.status : null,
    amount_cents: isCanonical ? data.amount : null,
    detail: isCanonical ? detailOf(data) : null,
    notification_id: isCanonical ? null : (data.id ?? data.notificationId),
  }
}

/** What is said beside the payment. */
function detailOf(data: unknown): string | null {
  const refund = ['id', 'amount', 'status'].map((name) => valueAt(data, 'refund', name))
  if (refund[0] !== undefined) return refund.join(' ')
  return (valueAt(data, 'attention', 'code') as string | undefined) ?? null
}

/** A pair of Ed25519 keys as texts: https://c2sp.org/signed-note. */
export function newKeys(name: string) {
  const { privateKey } = generateKeyPairSync('ed25519')
  const [seed, bytes] = [privateKey, createPublicKey(privateKey)].map((key) => {
    const { d, x } = key.export({ format: 'jwk' })
    return Buffer.concat([Buffer.of(1), Buffer.from(d ?? x ?? '', 'base64url')])
  }) as [Buffer, Buffer]
  const hash = createHash('sha256').update(`${name}\n`).update(bytes).digest('hex')
  const keyOf = (key: Buffer) => `${name}+${hash.slice(0, 8)}+${key.toString('base64')}`
  return { signingKey: `PRIVATE+KEY+${keyOf(seed)}`, verifierKey: keyOf(bytes) }
}
