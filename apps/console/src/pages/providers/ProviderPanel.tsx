// One provider, with a check of its credentials.
import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ActionOutcome } from '../../actions/ActionOutcome.tsx'
import { type Action, useAction } from '../../actions/useAction.ts'
import { api, dataOf } from '../../api/api.ts'
import type { CheckedProvider, Provider } from '../../api/apiTypes.ts'
import { providersQuery } from '../../api/frameQueries.ts'
import { modeTexts, providerTexts } from '../../format/providerTexts.ts'
import { Badge, type Tone } from '../../parts/Badge.tsx'
import { type Fact, Facts } from '../../parts/Facts.tsx'
import { Notice } from '../../parts/Notice.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { SafeLink } from '../../parts/SafeLink.tsx'
import { Time } from '../../parts/Time.tsx'
import { useMay } from '../../session/rights.ts'

export function ProviderPanel({ provider }: { readonly provider: Provider }) {
  const { id, is_enabled } = provider
  const { name, docs, variables } = providerTexts(id)
  const may = useMay()
  const client = useQueryClient()
  const check = useAction({
    name: `check ${id}`,
    effect: 'none',
    send: () => dataOf(api.checkProvider({ path: { id } })),
    onResponse: () => void client.invalidateQueries({ queryKey: providersQuery.queryKey }),
  })
  return (
    <Panel
      title={name}
      actions={
        <>
          <ProviderBadges provider={provider} />
          {is_enabled && may('checkProvider') && (
            <Button
              size="xs"
              variant="default"
              aria-label={`Check ${name} now`}
              loading={check.isRunning}
              onClick={() => check.again(undefined)}
            >
              Check now
            </Button>
          )}
        </>
      }
    >
      <div className="stack">
        <CheckOutcome check={check} />
        {is_enabled ? (
          <Facts facts={factsOf(provider)} />
        ) : (
          <p>
            It is enabled by {variables.length === 1 ? 'the variable' : 'the variables'}{' '}
            <VariableNames names={variables} />.
          </p>
        )}
        {docs !== null && (
          <p className="hint">
            {name} about notifications: <SafeLink url={docs} />
          </p>
        )}
      </div>
    </Panel>
  )
}

function VariableNames({ names }: { readonly names: readonly string[] }) {
  return names.map((name, at) => (
    <span key={name}>
      {at > 0 && (at === names.length - 1 ? ' and ' : ', ')}
      <code>{name}</code>
    </span>
  ))
}

/** Whether the last that we know of the credentials is that they were refused. */
const areRefused = ({ credentials_accepted_at: accepted, credentials_refused_at: refused }: Provider) =>
  refused !== null && (accepted === null || refused > accepted)

function ProviderBadges({ provider }: { readonly provider: Provider }) {
  const { is_enabled, mode, refused_signatures } = provider
  if (!is_enabled) return <Badge text="not enabled" />
  return (
    <span className="badges">
      {mode !== null && <Badge text={mode} tone={mode === 'live' ? 'good' : 'warn'} />}
      {areRefused(provider) && <Badge text="credentials refused" tone="bad" />}
      {refused_signatures > 0 && <Badge text="signatures refused" tone="bad" />}
    </span>
  )
}

function factsOf(provider: Provider): Fact[] {
  const { id, mode, last_notification_at, last_notification_type, refused_signatures, payments } = provider
  return [
    ['Mode', mode === null ? 'Not known' : modeTexts[mode]],
    [
      'Last notification',
      last_notification_at === null ? (
        'None yet'
      ) : (
        <>
          <Time value={last_notification_at} />
          {last_notification_type !== null && <p className="hint wrap">{last_notification_type}</p>}
        </>
      ),
    ],
    ['Credentials', <Credentials key="credentials" provider={provider} />],
    [
      'Refused signatures, 24 h',
      <>
        {refused_signatures.toLocaleString()}
        {provider.last_refused_signature_at !== null && (
          <p className="hint">
            last <Time value={provider.last_refused_signature_at} />
          </p>
        )}
      </>,
    ],
    [
      'Payments begun, 24 h',
      <Link key="payments" to="/payments" search={{ provider_id: id }}>
        {payments.toLocaleString()}
      </Link>,
    ],
  ]
}

function Credentials({ provider }: { readonly provider: Provider }) {
  const { mode, credentials_accepted_at, credentials_refused_at, credentials_refusal } = provider
  if (mode === 'sandbox') return 'None needed'
  if (areRefused(provider))
    return (
      <>
        Refused <Time value={credentials_refused_at} />
        {credentials_refusal !== null && <p className="hint wrap">{credentials_refusal}</p>}
      </>
    )
  if (credentials_accepted_at === null) return 'Not used yet'
  return (
    <>
      Accepted <Time value={credentials_accepted_at} />
    </>
  )
}

const tones: Readonly<Record<string, Tone>> = { true: 'good', false: 'bad', null: 'warn' }

function CheckOutcome({ check }: { readonly check: Action<unknown, CheckedProvider> }) {
  if (check.result === undefined) return <ActionOutcome action={check} success={null} />
  const { ok, message, checked_at } = check.result
  return (
    <Notice tone={tones[String(ok)] ?? 'warn'} role="status" title={message}>
      <p className="hint">
        Asked at <Time value={checked_at} />
      </p>
    </Notice>
  )
}
