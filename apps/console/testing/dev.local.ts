import { spawn } from 'node:child_process'
import { startServers } from '../../../tools/testServers.ts'

if (process.argv[2] !== 'inner') {
  const servers = await startServers(console.log)
  const child = spawn(process.execPath, [import.meta.filename, 'inner'], {
    env: { ...process.env, ...servers.env },
    stdio: 'inherit',
  })
  const stop = () => child.kill('SIGTERM')
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  child.on('exit', async () => {
    await servers.stop()
    process.exit(0)
  })
} else {
  const { startFakeEndpoint } = await import('@paylog/testing/fakeEndpoint')
  const { startSystem } = await import('@paylog/testing/system')
  const { demoRights } = await import('@paylog/identity/sandboxIdentity')
  const { writePayments } = await import('./paymentLog.ts')
  const { openPayment, settlePayment, disputePayment } = await import('./payments.ts')
  const undo: (() => unknown)[] = []
  const t: any = {
    teardown: (f: () => unknown) => undo.unshift(f),
    comment: console.log,
    fail: console.error,
    pass() {},
    ok() {},
    equal() {},
    passing: () => true,
    fullname: 'dev',
    name: 'dev',
  }
  process.on('SIGTERM', async () => {
    for (const f of undo) await f()
    process.exit(0)
  })
  let n = 0
  const endpoint = await startFakeEndpoint(t, (response: any) => {
    response.statusCode = n++ % 9 === 0 ? 500 : 200
    response.end('ok')
  })
  const bad = await startFakeEndpoint(t, (response: any) => {
    response.statusCode = 500
    response.end('no')
  })
  const system = await startSystem(t, {
    WEBHOOK_1_ENABLED: 'true',
    WEBHOOK_1_URL: endpoint.url,
    WEBHOOK_1_SECRET: `whsec_${Buffer.alloc(24, 7).toString('base64')}`,
    WEBHOOK_1_EVENTS: 'payment.*',
    WEBHOOK_2_ENABLED: 'true',
    WEBHOOK_2_URL: bad.url,
    WEBHOOK_2_SECRET: `whsec_${Buffer.alloc(24, 8).toString('base64')}`,
    WEBHOOK_2_EVENTS: 'payment.refunded,payment.succeeded',
    RATE_LIMIT_WEBHOOK_TESTS_PER_MINUTE: '1000',
    RIGHTS: demoRights,
    ...(process.env.DEV_ENV ? JSON.parse(process.env.DEV_ENV) : {}),
  })
  await writePayments(system, Number(process.env.DEV_PAYMENTS ?? 449))
  const id = await openPayment(system, {
    email: 'buyer@example.com',
    total_cents: 4200,
    reference_code: 'R-77',
    description: 'Two tickets for the opening night',
  })
  await settlePayment(system, id)
  await disputePayment(system, id)
  const { signSandboxEvent } = await import('@paylog/providers/sandbox/notifications')
  for (const [n, hours, status] of [
    [1, 30, 'needs_response'],
    [2, 100, 'needs_response'],
    [3, 400, 'needs_response'],
    [4, -5, 'needs_response'],
    [5, 20, 'won'],
    [6, 20, 'lost'],
  ] as const) {
    const p = await openPayment(system, {
      email: `buyer${n}@example.com`,
      total_cents: 5000 + n,
      reference_code: `S-${n}`,
      concept: `Season ticket ${n}`,
    })
    await settlePayment(system, p)
    const { readPayment } = await import('./payments.ts')
    const { provider_intent_id: intent } = await readPayment(system, p)
    const send = async (type: string, object: object) => {
      const created = Math.floor(Date.now() / 1000)
      const body = JSON.stringify({ id: `evt_x${n}${type}`, type, created, data: { object } })
      await fetch(`${system.baseUrl}/webhooks/sandbox`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'sandbox-signature': signSandboxEvent(system.sandboxSecret, body, created),
        },
        body,
      })
    }
    const d = {
      id: `dp_${p}`,
      payment_intent: intent,
      amount: 5000 + n,
      reason: 'product_not_received',
      evidence_due_by: Math.floor(Date.now() / 1000) + hours * 3600,
    }
    await send('dispute.created', { ...d, status: 'needs_response' })
    if (status !== 'needs_response') await send('dispute.closed', { ...d, status })
  }
  const { writeFileSync } = await import('node:fs')
  writeFileSync(
    '/tmp/w-money-dev.json',
    JSON.stringify({ ...system, keys: undefined, identity: undefined, services: undefined, id }),
  )
  console.log('READY', system.baseUrl, id)
  setInterval(() => {}, 1e6)
}
