// The nodes of an event store that the campaign starts by commands: supervised, and watched by their gossip.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createNodeCalls, type Member, type NodeCalls } from './nodeCalls.ts'
import { type SupervisedProcess, superviseProcess } from './supervisedProcess.ts'

export type EventStoreOptions = {
  /** `esdb://…`, with a host for each of the commands, in their order. */
  readonly connectionString: string
  /** For a shell. Each becomes a node's process; `{directory}` is replaced by a directory for its data. */
  readonly commands: readonly string[]
}

export type EventStoreNode = { readonly process: SupervisedProcess; readonly calls: NodeCalls }

/** When a majority of the nodes started to name a leader, or ceased to. */
type Change = {
  readonly at: number
  readonly leader: EventStoreNode | undefined
  readonly instance: string | undefined
}

export type EventStoreNodes = {
  readonly all: readonly EventStoreNode[]
  /** The one that a majority names now, and its instance: another one after each start. */
  leader(): EventStoreNode | undefined
  leading(): string | undefined
  /** The first leader that a majority named after a moment, and when; not this instance, which a slow machine may hide for a while. */
  electedAfter(
    moment: number,
    except: string | undefined,
  ): { readonly at: number; readonly leader: EventStoreNode } | undefined
  /** Resolves when all nodes run and follow one leader. @throws Error after two minutes */
  untilWhole(): Promise<void>
}

const pollMs = 100
const wholeTimeoutMs = 120_000

/** @param stack ends everything @param options `directory` for their data @returns when a majority names a leader */
export async function superviseNodes(
  stack: AsyncDisposableStack,
  { connectionString, commands }: EventStoreOptions,
  { directory, logs }: { readonly directory: string; readonly logs: string },
): Promise<EventStoreNodes> {
  const all: EventStoreNode[] = []
  for (const [index, calls] of createNodeCalls(stack, connectionString).entries()) {
    const name = commands.length === 1 ? 'event-store' : `event-store-${index + 1}`
    const data = join(directory, name)
    await mkdir(data)
    const words = ['/bin/sh', '-c', `exec ${commands[index]?.replaceAll('{directory}', `'${data}'`)}`]
    const process = superviseProcess(stack, name, {
      command: { words, directory, env: inherited() },
      logFile: join(logs, `${name}.log`),
      isReady: () =>
        calls.gossip().then(
          () => true,
          () => false,
        ),
    })
    all.push({ process, calls })
  }
  const watch = watchGossip(stack, all)
  const nodes: EventStoreNodes = {
    all,
    leader: () => watch.changes.at(-1)?.leader,
    leading: () => watch.changes.at(-1)?.instance,
    electedAfter(moment, except) {
      for (const { at, leader, instance } of watch.changes)
        if (leader !== undefined && at > moment && instance !== except) return { at, leader }
      return undefined
    },
    async untilWhole() {
      await Promise.all(all.map(({ process }) => process.untilReady()))
      const deadline = performance.now() + wholeTimeoutMs
      for (; !watch.isWhole(); await pause(pollMs))
        if (performance.now() > deadline)
          throw new Error(`the nodes of the event store are not together again: ${watch}`)
    },
  }
  await nodes.untilWhole()
  return nodes
}

const inherited = () => Object.fromEntries(Object.entries(process.env).filter(isSet))
const isSet = (entry: [string, string | undefined]): entry is [string, string] => entry[1] !== undefined

function watchGossip(stack: AsyncDisposableStack, nodes: readonly EventStoreNode[]) {
  const views: (readonly Member[] | undefined)[] = nodes.map(() => undefined)
  const changes: Change[] = []
  let isOver = false
  stack.defer(async () => {
    isOver = true
  })

  function look(): void {
    const named = views.map((view) => view?.find(({ role }) => role === 'leader'))
    const leader = named.find(
      (one) =>
        named.filter((other) => other !== undefined && other.instance === one?.instance).length > nodes.length / 2,
    )
    if (leader?.instance === changes.at(-1)?.instance && changes.length > 0) return
    const node = nodes.find(({ calls }) => calls.port === leader?.port)
    changes.push({ at: performance.now(), leader: node, instance: leader?.instance })
  }

  async function follow({ calls }: EventStoreNode, index: number): Promise<void> {
    for (; !isOver; await pause(pollMs)) {
      views[index] = await calls.gossip().catch(() => undefined)
      if (!isOver) look()
    }
  }
  nodes.forEach((node, index) => void follow(node, index))
  return {
    changes,
    isWhole: () =>
      changes.at(-1)?.leader !== undefined &&
      views.every((view) => view?.filter(({ role }) => role !== 'other').length === nodes.length),
    toString: () => JSON.stringify(views),
  }
}
