// `providers check`: asks each enabled provider whether it accepts our credentials.
import type { CheckedProvider } from '@paylog/administration/providers/check'
import { providerRoutes } from '@paylog/administration/providers/routes'
import { createActivityRecorder } from '@paylog/commands/provider-activity/activity'
import { enabledProviders, knownProviders, providerVariables } from '@paylog/commands/provider-calls/enabledProviders'
import { loadConfig } from '@paylog/runtime/config/environment'
import { Type } from 'typebox'
import { OpsError } from '../command.ts'
import { defineCommand } from '../defineCommand.ts'
import { noProvider } from '../system.ts'

const ProviderVariables = Type.Object(providerVariables)

export const providersCheck = defineCommand({
  summary: 'Ask providers whether they accept our credentials: all that are enabled, or those named',
  args: ['PROVIDER…'],
  audited: 'reason',
  json: 'an array: provider, mode, whether it accepts the credentials (null: not known), message',
  about: [
    'Asks something that changes nothing, within PROVIDER_TIMEOUT_MS. The exit code is 1 unless all of them accept the',
    'credentials. What they say is also in the console and in GET /admin/providers.',
  ],
  async run({ args, environment, open, api }) {
    const config = loadConfig(ProviderVariables, environment)
    const [now, pool, providers] = [() => new Date(), open.pool(), knownProviders(config)]
    const enabled = providers.filter(({ mode }) => mode !== null)
    if (enabled.length === 0) throw new OpsError(noProvider)
    const activity = createActivityRecorder({ db: pool, now, log: open.log })
    open.defer(() => activity.close())
    const openProviders = () => enabledProviders(config, activity.called)
    const call = await api(providerRoutes({ pool, providers, openProviders, now }))
    const checked: (CheckedProvider & { readonly provider: string; readonly mode: string | null })[] = []
    for (const provider of args.length > 0 ? args : enabled.map(({ id }) => id)) {
      const said = await call<CheckedProvider>('POST', `/admin/providers/${encodeURIComponent(provider)}/check`)
      checked.push({ provider, mode: providers.find(({ id }) => id === provider)?.mode ?? null, ...said })
    }
    const problem = checked.every(({ ok }) => ok) ? undefined : 'Not every provider accepts our credentials.'
    return { json: checked, text: checked.map(({ message, mode }) => `${message} (${mode}).`).join('\n'), problem }
  },
})
