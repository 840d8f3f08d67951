// Says in the frame whether real money moves.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { providersQuery } from '../api/frameQueries.ts'
import { useMayOpen } from './pageRights.tsx'

const signs = {
  live: { text: 'Live', explanation: 'Real money moves' },
  test: { text: 'Test', explanation: 'No real money moves: all providers are in test mode' },
  sandbox: { text: 'Sandbox', explanation: 'No real money moves: the only provider is the sandbox' },
  mixed: { text: 'Live and test', explanation: 'Real money moves at some providers, others are in test mode' },
} as const

/** Nothing before it is known, and while no provider is enabled. */
export function ModeSign() {
  const mayOpen = useMayOpen()
  const { data = [] } = useQuery({ ...providersQuery, enabled: mayOpen('/providers') })
  const mode = modeOf(new Set(data.map((provider) => provider.mode)))
  if (mode === null) return null
  const { text, explanation } = signs[mode]
  return (
    <Link to="/providers" className="modeSign" data-mode={mode} title={explanation}>
      {text}
    </Link>
  )
}

function modeOf(modes: ReadonlySet<'live' | 'test' | 'sandbox' | null>): keyof typeof signs | null {
  const isLive = modes.has('live')
  if (isLive) return modes.has('test') || modes.has('sandbox') ? 'mixed' : 'live'
  if (modes.has('test')) return 'test'
  return modes.has('sandbox') ? 'sandbox' : null
}
