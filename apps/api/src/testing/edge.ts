// Runs the edge for tests, with a name server that resolves one name to all replicas of an app, as container networks
// do.

import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { freePort } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import { replicaHosts } from './replicas.ts'

const headerBytes = 12
const typeA = 1
const responseFlags = 0x8180
const pointerToQuestion = 0xc00c

/**
 * Responds with all IPv4 addresses of a name, in any domain, rotated for each query.
 * @returns its port on 127.0.0.1
 */
async function startNameServer(t: Test, names: Readonly<Record<string, readonly string[]>>): Promise<number> {
  const socket = createSocket('udp4')
  let turn = 0
  socket.on('message', (query, client) => {
    const labelLength = query.readUInt8(headerBytes)
    const name = query.toString('latin1', headerBytes + 1, headerBytes + 1 + labelLength)
    const questionEnd = query.indexOf(0, headerBytes) + 5
    const isForAddress = query.readUInt16BE(questionEnd - 4) === typeA
    const addresses = isForAddress ? rotated(names[name] ?? [], turn++) : []
    const header = Buffer.alloc(headerBytes)
    query.copy(header, 0, 0, 2)
    for (const [index, value] of [responseFlags, 1, addresses.length].entries())
      header.writeUInt16BE(value, 2 + 2 * index)
    socket.send(
      Buffer.concat([header, query.subarray(headerBytes, questionEnd), ...addresses.map(record)]),
      client.port,
      client.address,
    )
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  return socket.address().port
}

function rotated<Item>(items: readonly Item[], by: number): Item[] {
  const first = items.length === 0 ? 0 : by % items.length
  return [...items.slice(first), ...items.slice(0, first)]
}

function record(address: string): Buffer {
  const bytes = Buffer.alloc(12)
  for (const [index, value] of [pointerToQuestion, typeA, 1, 0, 0, 4].entries()) bytes.writeUInt16BE(value, 2 * index)
  return Buffer.concat([bytes, Buffer.from(address.split('.').map(Number))])
}

const caddyfile = new URL('../../../../deploy/edge/Caddyfile', import.meta.url)

// biome-ignore lint/style/noProcessEnv: caddy is searched for in PATH.
const path = process.env.PATH

/** Such as 2.6.2; undefined where there is no Caddy. */
async function caddyVersion(): Promise<string | undefined> {
  const version = spawn('caddy', ['version'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const printed = text(version.stdout)
  return await once(version, 'exit').then(
    async () => /\d+\.\d+\.\d+/.exec(await printed)?.[0],
    () => undefined,
  )
}

const version = await caddyVersion()

/** The options of tests that need Caddy: skipped, and reported so, where there is none. */
export const withCaddy = version === undefined ? { skip: 'NOT TESTED: there is no caddy' } : {}

const [major = 0, minor = 0] = version?.split('.').map(Number) ?? []
/** Of tests that need a Caddy that breaks off a response that broke off behind it (https://github.com/caddyserver/caddy/pull/5952). */
export const withBreakingCaddy =
  major > 2 || minor >= 8 ? {} : { skip: `NOT TESTED: caddy ${version} completes what broke off behind it` }

/**
 * Runs Caddy with the deployed Caddyfile in front of APIs, by default the replicas of `startApis`.
 * @param ports of the APIs, as variables
 * @param hosts of both APIs
 * @returns its URL and its warnings
 */
export async function startEdge(
  t: Test,
  ports: Readonly<Record<string, string>>,
  hosts: readonly string[] = replicaHosts,
): Promise<{ readonly url: string; warnings(): readonly string[] }> {
  const resolver = `udp/127.0.0.1:${await startNameServer(t, { 'command-api': hosts, 'query-api': hosts })}`
  const deployed = await readFile(caddyfile, 'utf8')
  // Only the resolver differs from the deployed file.
  const resolved = deployed
    .replaceAll(/^(\s*)transport http \{$/gm, `$&\n$1\tresolvers ${resolver}`)
    .replaceAll(/^(\s*)dynamic a \{$/gm, `$&\n$1\tresolvers ${resolver}`)
  const directory = t.testdir({ Caddyfile: resolved })
  const port = await freePort()
  const caddy = spawn('caddy', ['run', '--adapter', 'caddyfile', '--config', join(directory, 'Caddyfile')], {
    env: {
      PATH: path,
      HOME: directory,
      SITE_ADDRESS: `http://127.0.0.1:${port}`,
      EDGE_BIND: '127.0.0.1',
      EDGE_HEALTH_PORT: String(await freePort()),
      ...ports,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let written = ''
  caddy.stderr.setEncoding('utf8').on('data', (part: string) => {
    written += part
  })
  t.teardown(async () => {
    if (caddy.exitCode !== null) return
    caddy.kill()
    await once(caddy, 'exit')
  })
  const url = `http://127.0.0.1:${port}`
  const responses = () =>
    fetch(url).then(
      () => true,
      () => false,
    )
  await waitFor(async () => caddy.exitCode !== null || (await responses()), { what: 'the edge to start' })
  if (caddy.exitCode !== null) throw new Error(`caddy ended: ${written}`)
  return { url, warnings: () => written.split('\n').filter((line) => /"level":"(warn|error)"/.test(line)) }
}
