// Where checkpoints are published: an S3-compatible store and a web hook, and which URLs are accepted.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { AwsV4Signer } from 'aws4fetch'
import t, { type Test } from 'tap'
import { auditProblems } from './config.ts'
import { newSigningKey } from './note.ts'
import { createPublish, createReadPublished } from './publishing.ts'

type Received = { readonly request: IncomingMessage; readonly body: string }

async function startTarget(t: Test): Promise<{ url: string; received: Received[]; answer: { status: number } }> {
  const received: Received[] = []
  const answer = { status: 200 }
  const server = createServer(async (request, response) => {
    received.push({ request, body: await text(request) })
    response.writeHead(answer.status).end('<Error/>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received, answer }
}

const credentials = { accessKeyId: 'AKID', secretAccessKey: 'secret' }
const checkpoint = { size: 42, note: 'example.com/payments\n42\n…\n' }
const { signal } = new AbortController()

t.test('a checkpoint has another file than one of the same size of an earlier tree', async (t) => {
  const directory = t.testdir({})
  const publish = createPublish(String(pathToFileURL(directory)), undefined)
  await publish(checkpoint, signal)
  await publish({ size: 42, note: 'another', earlier: 1 }, signal)
  const contentOf = (name: string) => readFileSync(join(directory, name), 'utf8')
  t.equal(contentOf('checkpoint-000000000042'), checkpoint.note)
  t.equal(contentOf('checkpoint-000000000042-2'), 'another')
  t.equal(contentOf('latest'), 'another')
  await publish({ size: 41, note: 'an older one', isLatest: false }, signal)
  t.equal(contentOf('checkpoint-000000000041'), 'an older one')
  t.equal(contentOf('latest'), 'another', 'an older one does not become the latest')
  await publish({ size: 42, note: 'after a rollback' }, signal)
  t.equal(contentOf('checkpoint-000000000042'), checkpoint.note, 'what is published is never replaced')
  t.equal(contentOf('checkpoint-000000000042-3'), 'after a rollback')
})

t.test('the newest published checkpoint is read where the target shows it', async (t) => {
  const directory = t.testdir({})
  const fromDirectory = createReadPublished(String(pathToFileURL(directory)), undefined)
  t.equal(await fromDirectory(signal), undefined)
  await createPublish(String(pathToFileURL(directory)), undefined)(checkpoint, signal)
  t.equal(await fromDirectory(signal), checkpoint.note)
  const { url, received, answer } = await startTarget(t)
  const store = `s3://bucket/audit?region=eu-central-1&endpoint=${encodeURIComponent(url)}`
  for (const [target, path] of [
    [store, '/bucket/audit/latest'],
    [`${url}/checkpoints`, '/checkpoints'],
  ] as const) {
    const read = createReadPublished(target, credentials)
    answer.status = 200
    t.equal(await read(signal), '<Error/>')
    t.match(received.at(-1)?.request, { method: 'GET', url: path })
    answer.status = 403
    t.equal(await read(signal), null, 'a target that only takes checkpoints')
    answer.status = 500
    await t.rejects(read(signal), { message: 'The response was 500' })
  }
})

t.test('an S3-compatible store gets signed uploads of the checkpoint and of latest', async (t) => {
  const { url, received, answer } = await startTarget(t)
  const target = `s3://bucket/audit/?region=eu-central-1&endpoint=${encodeURIComponent(`${url}/`)}`
  const publish = createPublish(target, credentials)
  await publish(checkpoint, signal)
  t.same(
    received.map(({ request, body }) => [request.method, request.url, body]),
    ['checkpoint-000000000042', 'latest'].map((name) => ['PUT', `/bucket/audit/${name}`, checkpoint.note]),
  )
  for (const { request, body } of received) {
    const { headers } = request
    t.equal(headers['x-amz-checksum-sha256'], createHash('sha256').update(body).digest('base64'))
    t.equal(headers['x-amz-content-sha256'], createHash('sha256').update(body).digest('hex'))
    const signed = new AwsV4Signer({
      ...credentials,
      method: 'PUT',
      url: `${url}${request.url}`,
      service: 's3',
      region: 'eu-central-1',
      datetime: String(headers['x-amz-date']),
      headers: {
        'x-amz-checksum-sha256': String(headers['x-amz-checksum-sha256']),
        'x-amz-content-sha256': String(headers['x-amz-content-sha256']),
      },
    })
    t.equal(headers.authorization, await signed.authHeader())
  }
  answer.status = 403
  await t.rejects(publish(checkpoint, signal), { message: 'The response was 403 <Error/>' })
})

t.test('a web hook gets the note, and any response but 2xx is a failure', async (t) => {
  const { url, received, answer } = await startTarget(t)
  const publish = createPublish(`${url}/checkpoints`, undefined)
  answer.status = 204
  await publish(checkpoint, signal)
  t.match(received[0]?.request, { method: 'POST', url: '/checkpoints' })
  t.equal(received[0]?.body, checkpoint.note)
  for (const status of [302, 400, 500]) {
    answer.status = status
    await t.rejects(publish(checkpoint, signal))
  }
})

t.test('each wrong variable is named, and its value is not shown', (t) => {
  const { signingKey } = newSigningKey('example.com/payments')
  const problems = (config: Partial<Parameters<typeof auditProblems>[0]>) =>
    auditProblems({ AUDIT_CHECKPOINT_INTERVAL: 60_000, ...config })
  t.same(problems({ AUDIT_SIGNING_KEY: signingKey }), [])
  t.same(problems({ AUDIT_SIGNING_KEY: 'hunter2' }), [
    'AUDIT_SIGNING_KEY is not a signing key: A signing key begins with PRIVATE+KEY+',
  ])
  const { signingKey: other } = newSigningKey('example.com/other')
  t.match(problems({ AUDIT_SIGNING_KEY: signingKey, AUDIT_PREVIOUS_SIGNING_KEY: other }), [
    /^AUDIT_PREVIOUS_SIGNING_KEY must have the name of AUDIT_SIGNING_KEY, example\.com\/payments/,
  ])
  t.match(problems({ AUDIT_VERIFIER_KEYS: 'hunter2' }), [/^AUDIT_VERIFIER_KEYS has a text that is no verifier key/])
  const ofUrl = (AUDIT_CHECKPOINT_URL: string) =>
    problems({ AUDIT_CHECKPOINT_URL, AUDIT_S3_ACCESS_KEY_ID: 'a', AUDIT_S3_SECRET_ACCESS_KEY: 'b' })
  for (const right of [
    'file:///var/lib/checkpoints',
    'https://example.com/hook',
    'http://127.0.0.1:9/hook',
    's3://bucket?region=eu-central-1',
    's3://bucket/prefix?region=eu-central-1&endpoint=https://minio.example.com',
    's3://bucket/prefix?region=us-east-1&endpoint=http://127.0.0.1:9000',
  ])
    t.same(ofUrl(right), [], right)
  for (const wrong of [
    'file://host/directory',
    'http://example.com/hook',
    's3://bucket/prefix',
    's3://bucket//prefix?region=eu-central-1',
    's3://bucket?region=eu-central-1&endpoint=http://minio.example.com',
    's3://bucket?region=eu-central-1&endpoint=minio',
  ])
    t.match(ofUrl(wrong), [/^AUDIT_CHECKPOINT_URL must /], wrong)
  t.same(problems({ AUDIT_CHECKPOINT_URL: 's3://bucket?region=eu-central-1' }), [
    'AUDIT_S3_ACCESS_KEY_ID is required with an s3:// AUDIT_CHECKPOINT_URL',
    'AUDIT_S3_SECRET_ACCESS_KEY is required with an s3:// AUDIT_CHECKPOINT_URL',
  ])
  t.end()
})
