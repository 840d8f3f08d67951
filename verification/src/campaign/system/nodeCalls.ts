// What the campaign asks a single node of the event store, past all rules of a cluster: its gossip, its log, and to resign.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import gossipPb from '@eventstore/db-client/generated/gossip_pb.js'
import operationsGrpc from '@eventstore/db-client/generated/operations_grpc_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams, { type ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { ChannelCredentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import { parseConnectionString } from '@paylog/event-store/connection/connectionString'

/** A node as another one sees it. */
export type Member = {
  readonly port: number
  /** Another one after each start. */
  readonly instance: string
  readonly role: 'leader' | 'follower' | 'other'
}

/** An event as a node has it: its place and kind, and a hash of all its bytes. */
export type NodeEvent = { readonly position: bigint; readonly name: string; readonly hash: string }

export type NodeCalls = {
  readonly port: number
  /** The members that the node takes for alive. @throws ServiceError when it does not answer in a second */
  gossip(): Promise<readonly Member[]>
  /** Gives up its leadership. */
  resign(): Promise<void>
  /** All of its log with the server's own events, in order, as this node has it. */
  readLog(): Promise<NodeEvent[]>
}

const gossipTimeoutMs = 1_000
const callTimeoutMs = 10_000
const readTimeoutMs = 10 * 60_000
/** A node that was just started is found at once. */
const channelOptions = { 'grpc.initial_reconnect_backoff_ms': 50, 'grpc.max_reconnect_backoff_ms': 100 }

/** @param stack closes the connections @returns the calls to each host of the connection string, in its order */
export function createNodeCalls(stack: AsyncDisposableStack, connectionString: string): NodeCalls[] {
  const { hosts, isEncrypted, credentials: login, options } = parseConnectionString(connectionString)
  const authority = options.get('tlscafile')
  const credentials = isEncrypted
    ? ChannelCredentials.createSsl(authority === undefined ? null : readFileSync(decodeURIComponent(authority)))
    : ChannelCredentials.createInsecure()
  const metadata = new Metadata()
  if (login !== undefined)
    metadata.set('authorization', `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}`)
  return hosts.map((endpoint) => {
    const port = Number(endpoint.split(':')[1])
    const parameters = [endpoint, credentials, channelOptions] as const
    const gossip = new gossipGrpc.GossipClient(...parameters)
    const operations = new operationsGrpc.OperationsClient(...parameters)
    const log = new streamsGrpc.StreamsClient(...parameters)
    for (const client of [gossip, operations, log]) stack.defer(async () => client.close())
    return {
      port,
      async gossip() {
        const info = await answer<gossipPb.ClusterInfo>((callback) =>
          gossip.read(new shared.Empty(), metadata, { deadline: Date.now() + gossipTimeoutMs }, callback),
        )
        return info
          .getMembersList()
          .filter((member) => member.getIsAlive())
          .map(memberOf)
      },
      async resign() {
        await answer((callback) =>
          operations.resignNode(new shared.Empty(), metadata, { deadline: Date.now() + callTimeoutMs }, callback),
        )
      },
      async readLog() {
        const events: NodeEvent[] = []
        for await (const response of log.read(wholeLog(), metadata, { deadline: Date.now() + readTimeoutMs })) {
          const event = (response as ReadResp).getEvent()?.getEvent()
          if (event !== undefined) events.push(nodeEventOf(event))
        }
        return events
      },
    }
  })
}

type Callback<Response> = (error: ServiceError | null, response: Response) => void

function answer<Response>(call: (callback: Callback<Response>) => unknown): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  call((error, response) => (error ? reject(error) : resolve(response)))
  return promise
}

function memberOf(member: gossipPb.MemberInfo): Member {
  const { LEADER, FOLLOWER } = gossipPb.MemberInfo.VNodeState
  const state = member.getState()
  return {
    port: member.getHttpEndPoint()?.getPort() ?? 0,
    instance: JSON.stringify(member.getInstanceId()?.toObject()),
    role: state === LEADER ? 'leader' : state === FOLLOWER ? 'follower' : 'other',
  }
}

function wholeLog() {
  const { Options } = streams.ReadReq
  const options = new Options()
    .setReadDirection(Options.ReadDirection.FORWARDS)
    .setResolveLinks(false)
    .setNoFilter(new shared.Empty())
    .setUuidOption(new Options.UUIDOption().setString(new shared.Empty()))
    .setAll(new Options.AllOptions().setStart(new shared.Empty()))
    .setCount(String(Number.MAX_SAFE_INTEGER))
  return new streams.ReadReq().setOptions(options)
}

function nodeEventOf(event: ReadResp.ReadEvent.RecordedEvent): NodeEvent {
  const stream = Buffer.from(event.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString()
  const metadata = [...event.getMetadataMap().toArray()].sort()
  const place = `${event.getCommitPosition()}/${event.getPreparePosition()}`
  const id = event.getId()?.getString()
  const hash = createHash('sha256').update(JSON.stringify([place, stream, event.getStreamRevision(), id, metadata]))
  for (const bytes of [event.getData_asU8(), event.getCustomMetadata_asU8()])
    hash.update(`${bytes.length}`).update(bytes)
  return {
    position: BigInt(event.getCommitPosition()),
    name: `${stream}@${event.getStreamRevision()} (${event.getMetadataMap().get('type')}) at ${place}`,
    hash: hash.digest('base64'),
  }
}
