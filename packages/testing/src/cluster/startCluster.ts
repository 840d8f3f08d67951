// A cluster of three stand-in nodes in front of one embedded event store.
import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import gossip, { type ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js'
import operationsGrpc from '@eventstore/db-client/generated/operations_grpc_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import { credentials, Metadata } from '@grpc/grpc-js'
import type { Test } from 'tap'
import { startEventStore, type TestEventStore } from '../eventStore.ts'
import { freePort, startProcess } from '../processes.ts'
import { waitFor } from '../waitFor.ts'

const script = new URL('./node.ts', import.meta.url)
const gossipTimeoutMs = 500

export type TestNode = {
  readonly port: number
  /** `127.0.0.1:PORT` */
  readonly endpoint: string
  /** Of this node alone. */
  readonly connectionString: string
  /** Of the running process. */
  pid(): number
  /** Its changes of role so far, before restarts too. */
  output(): string
  /** Starts it again, on the same port. */
  start(): Promise<void>
  /** Sends SIGKILL, and waits for the end. */
  kill(): Promise<void>
  /** Sends SIGTERM, and waits for the end. */
  terminate(): Promise<void>
  /** Sends SIGSTOP: its connections stay open, and silent. */
  stop(): void
  /** Sends SIGCONT. */
  resume(): void
}

export type TestCluster = {
  /** Of all three nodes. */
  readonly connectionString: string
  /** What the nodes stand before; never stops with a node. */
  readonly log: TestEventStore
  readonly nodes: readonly TestNode[]
  /** Waits until a majority of the nodes names the same leader, and returns its index. */
  leader(): Promise<number>
  /** The same, as nodes. */
  roles(): Promise<{ readonly leader: TestNode; readonly followers: readonly TestNode[] }>
  /** The present leader resigns. Waits until a majority and it follow the next one, and returns the index of that. */
  resign(): Promise<number>
}

/**
 * Starts three nodes, and waits for their leader. Everything ends with the test, also stopped nodes.
 * @param options times of the nodes, such as `'silence-ms'`: the options of `node.ts`
 */
export async function startCluster(t: Test, options: Readonly<Record<string, number>> = {}): Promise<TestCluster> {
  const log = await startEventStore(t)
  const ports = [await freePort(), await freePort(), await freePort()].sort((a, b) => a - b)
  const nodes = await Promise.all(ports.map((port) => startNode(t, port, { ports, log, options })))
  const leader = () => waitFor(() => agreedLeader(nodes), { what: 'a leader of a majority' })
  await leader()
  return {
    connectionString: `esdb://${nodes.map(({ endpoint }) => endpoint).join(',')}?tls=false`,
    log,
    nodes,
    leader,
    async roles() {
      const [leading] = nodes.slice(await leader())
      if (leading === undefined) throw new Error('The cluster has no such node')
      return { leader: leading, followers: nodes.filter((node) => node !== leading) }
    },
    async resign() {
      const resigned = await leader()
      const endpoint = nodes[resigned]?.endpoint ?? ''
      await resignNode(endpoint)
      // The two others can agree before the one that resigned knows of it: until then it is "not ready".
      return waitFor(
        async () => {
          const next = await agreedLeader(nodes)
          if (next === undefined || next === resigned) return undefined
          return leaderPort(await readGossip(endpoint)) === nodes[next]?.port && next
        },
        { what: 'another leader that the one before follows' },
      )
    },
  }
}

type NodePlan = {
  readonly ports: readonly number[]
  readonly log: TestEventStore
  readonly options: Readonly<Record<string, number>>
}

async function startNode(t: Test, port: number, { ports, log, options }: NodePlan): Promise<TestNode> {
  const peers = ports.filter((other) => other !== port).join(',')
  const times = Object.entries(options).flatMap(([name, ms]) => [`--${name}`, String(ms)])
  const args = ['--port', String(port), '--peers', peers, '--log', new URL(log.connectionString).host, ...times]
  const start = () => startProcess(t, { script, args })
  let running = await start()
  let earlierOutput = ''
  // A stopped process does not end on SIGTERM.
  t.teardown(() => running.kill('SIGKILL'))
  return {
    port,
    endpoint: `127.0.0.1:${port}`,
    connectionString: `esdb://127.0.0.1:${port}?tls=false`,
    pid: () => running.pid,
    output: () => earlierOutput + running.output(),
    async start() {
      earlierOutput += running.output()
      running = await start()
    },
    kill: () => running.kill('SIGKILL'),
    terminate: () => running.kill('SIGTERM'),
    stop: () => void process.kill(running.pid, 'SIGSTOP'),
    resume: () => void process.kill(running.pid, 'SIGCONT'),
  }
}

/** A leader that was just killed or stopped is still in the gossip of the others, but does not answer. */
async function agreedLeader(nodes: readonly TestNode[]): Promise<number | undefined> {
  const named = await Promise.all(nodes.map(async ({ endpoint }) => leaderPort(await readGossip(endpoint))))
  const leader = nodes.findIndex(({ port }, n) => named[n] === port && isMajority(named, port))
  return leader === -1 ? undefined : leader
}

function isMajority(named: readonly (number | undefined)[], port: number): boolean {
  return named.filter((other) => other === port).length > named.length / 2
}

function leaderPort(cluster: ClusterInfo | undefined): number | undefined {
  const { LEADER } = gossip.MemberInfo.VNodeState
  const leader = cluster?.getMembersList().find((member) => member.getIsAlive() && member.getState() === LEADER)
  return leader?.getHttpEndPoint()?.getPort()
}

/** @returns the three members as a node knows them, or `undefined` when it does not answer */
export function readGossip(endpoint: string): Promise<ClusterInfo | undefined> {
  const client = new gossipGrpc.GossipClient(endpoint, credentials.createInsecure())
  const deadline = Date.now() + gossipTimeoutMs
  return new Promise((resolve) => {
    client.read(new shared.Empty(), new Metadata(), { deadline }, (_error, cluster) => {
      client.close()
      resolve(cluster)
    })
  })
}

function resignNode(endpoint: string): Promise<void> {
  const client = new operationsGrpc.OperationsClient(endpoint, credentials.createInsecure())
  return new Promise((resolve, reject) => {
    client.resignNode(new shared.Empty(), (error) => {
      client.close()
      if (error) reject(error)
      else resolve()
    })
  })
}
