// The processes of the benchmark: started with a channel over which they are asked one thing at a time.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'

export type Program = {
  /** @throws when the process ends instead of answering, or answers something else */
  ask<Answer extends TSchema>(question: object, answer: Answer): Promise<Static<Answer>>
}

/** @param stack with which the process is stopped */
export async function startProgram(
  stack: AsyncDisposableStack,
  script: string,
  env: Readonly<Record<string, string>>,
): Promise<Program> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(script, import.meta.url))], {
    env: { ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit')
  stack.defer(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.disconnect()
    await exited
  })
  const ended = exited.then(([code]) => {
    throw new Error(`${script} ended with ${code}`)
  })
  ended.catch(() => undefined)
  const answered = async (): Promise<unknown> => {
    const [message] = await Promise.race([once(child, 'message'), ended])
    return message
  }
  await answered()
  return {
    async ask(question, answer) {
      const next = answered()
      child.send(question)
      return Value.Parse(answer, await next)
    },
  }
}

/** In such a process: tells that it is ready, answers what it is asked, and ends when whoever asks is gone. */
export function answering(answer: (question: unknown) => Promise<object>, end: () => Promise<void>): void {
  process.on('message', (question) => {
    answer(question).then(
      (said) => process.send?.(said),
      (error: unknown) => {
        process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
        process.exit(1)
      },
    )
  })
  process.on('disconnect', () => void end().finally(() => process.exit(0)))
  process.send?.({})
}
