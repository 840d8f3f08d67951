// The chat services that have a layout of their own, and how their addresses are known.
import { slackHosts } from './slack.ts'

export const chatServices = ['slack', 'discord', 'teams', 'google-chat', 'mattermost', 'telegram'] as const
export type ChatService = (typeof chatServices)[number]

/** How messages for an endpoint are written: plain JSON, or the layout of a chat service. */
export type WebhookFormat = 'json' | ChatService

type Address = {
  readonly format: ChatService
  /** The host's whole name, or its end, with the dot, for hosts that differ per customer. */
  readonly hosts: readonly string[]
  readonly path: RegExp
}

/** By the services' documentation. Mattermost runs on any host and has to be named by the operator. */
const addresses: readonly Address[] = [
  { format: 'slack', hosts: slackHosts, path: /^\/(services|workflows|triggers)\/./ },
  {
    format: 'discord',
    hosts: ['discord.com', 'discordapp.com'].flatMap((host) => [host, `ptb.${host}`, `canary.${host}`]),
    // What follows the token asks for the layout of another service.
    path: /^\/api(\/v\d+)?\/webhooks\/\d+\/[^/]+\/?$/,
  },
  { format: 'teams', hosts: ['.environment.api.powerplatform.com'], path: /^\/powerautomate\/./ },
  { format: 'teams', hosts: ['.logic.azure.com'], path: /^\/workflows\/./ },
  { format: 'teams', hosts: ['.webhook.office.com'], path: /^\/webhookb2\/./ },
  { format: 'teams', hosts: ['outlook.office.com', 'outlook.office365.com'], path: /^\/webhook\/./ },
  { format: 'google-chat', hosts: ['chat.googleapis.com'], path: /^\/v1\/spaces\/[^/]+\/messages\/?$/ },
  { format: 'telegram', hosts: ['api.telegram.org'], path: /^\/bot[^/]+\/sendMessage\/?$/i },
]

/**
 * The format that an endpoint's host and path ask for. The host is compared as a whole or by its last labels: a part
 * of it proves nothing, since anybody can name a host of his own `hooks.slack.com.example`.
 */
export function formatByHost({ hostname, pathname }: URL): WebhookFormat {
  const isOf = (host: string) => (host.startsWith('.') ? hostname.endsWith(host) : hostname === host)
  return addresses.find(({ hosts, path }) => hosts.some(isOf) && path.test(pathname))?.format ?? 'json'
}
