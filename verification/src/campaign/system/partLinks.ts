// The links between the parts of the system, and where each leads to.
import { createLink, type Link } from './link.ts'
import { type AppName, type AppPart, appNames, appParts, type ServerName } from './parts.ts'

export type PartLink = {
  readonly from: AppName | 'edge'
  readonly to: ServerName | 'outside' | 'apps'
  readonly link: Link
  /** The ports that it leads to now. */
  readonly targets: () => readonly number[]
  /** A variable of the app that names the link, where `to` is outside. */
  readonly variable?: readonly [string, string]
}

/**
 * A link from each app to each server that it uses, and to each provider and webhook endpoint that a variable names.
 * @param env variables of the providers and endpoints
 * @param portOf 0 for a server that is not there
 */
export async function linkParts(
  stack: AsyncDisposableStack,
  env: Readonly<Record<string, string>>,
  portOf: (server: ServerName) => number,
): Promise<PartLink[]> {
  const links: PartLink[] = []
  const outside = Object.entries(env).filter(([, value]) => value.startsWith('http://127.0.0.1:'))
  for (const from of appNames) {
    const part: AppPart = appParts[from]
    for (const to of part.servers.filter((server) => portOf(server) !== 0))
      links.push({ from, to, link: await createLink(stack, `${from} → ${to}`), targets: () => [portOf(to)] })
    for (const [name, value] of outside.filter(([name]) => part.outside?.test(name))) {
      const port = Number(new URL(value).port)
      const link = await createLink(stack, `${from} → ${name}`)
      const variable = [name, value.replace(`:${port}`, `:${link.port}`)] as const
      links.push({ from, to: 'outside', link, targets: () => [port], variable })
    }
  }
  return links
}

/** To be called whenever a target has another port. */
export function pointLinks(links: readonly PartLink[]): void {
  for (const { link, targets } of links) link.forwardTo(...targets())
}
