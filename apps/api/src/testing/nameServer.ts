// A name server for tests: the replicas of an app have one name, as they do among containers.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { Test } from 'tap'

const headerBytes = 12
const typeA = 1
const responseFlags = 0x8180
const pointerToQuestion = 0xc00c

/**
 * Answers with all IPv4 addresses of a name, whichever domain is added to it, each time in another order.
 * @returns its port on 127.0.0.1
 */
export async function startNameServer(t: Test, names: Readonly<Record<string, readonly string[]>>): Promise<number> {
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
