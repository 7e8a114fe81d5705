// The agents that start without an account: their packages, the tool that is their shell, and how each is
// pointed at a model and a service.

const PROMPT = 'Call the tools of the server trivet, one after another.'
const SERVER = 'trivet'

const bashOf = (tool) => ({ tool, toArgs: (command) => ({ command, description: 'Sends a file' }) })

/**
 * `files` are written to the home of the run, which is also the folder that the agent works in.
 * `before` is run first, such as a sign-in.
 * @typedef {{ home: string, model: string, service: string }} Place
 * @typedef {object} Start
 * @property {string[]} command
 * @property {string[]} [before]
 * @property {object} [env]
 * @property {Record<string, object | string>} [files]
 *
 * @typedef {{ tool: string, toArgs (command: string): object }} Shell
 *
 * The agent may name tools only, until its model searches for them. `call` is the tool that calls those.
 * @typedef {{ tool: string, call?: string }} Search
 * @type {Record<string, { package: string, shell: Shell, search?: Search, start (place: Place): Start }>}
 */
export const AGENTS = {
  claude: {
    package: '@anthropic-ai/claude-code@2.1.332',
    shell: bashOf('Bash'),
    search: { tool: 'ToolSearch' },
    start: ({ home, model, service }) => ({
      command: [
        'claude', '-p', PROMPT, '--mcp-config', `${home}/mcp.json`, '--strict-mcp-config',
        '--allowedTools', `mcp__${SERVER} Bash`
      ],
      env: {
        ANTHROPIC_BASE_URL: model,
        ANTHROPIC_API_KEY: 'none',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1'
      },
      files: { 'mcp.json': { mcpServers: { [SERVER]: { type: 'http', url: service } } } }
    })
  },
  codex: {
    package: '@openai/codex@0.171',
    shell: { tool: 'exec_command', toArgs: (cmd) => ({ cmd }) },
    start: ({ home, model, service }) => ({
      command: [
        'codex', 'exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', PROMPT
      ],
      env: { CODEX_HOME: `${home}/.codex`, SCRIPTED_KEY: 'none' },
      files: {
        '.codex/config.toml': `model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "${model}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
[mcp_servers.${SERVER}]
url = "${service}"
`
      }
    })
  },
  gemini: {
    package: '@google/gemini-cli@0.61',
    shell: bashOf('run_shell_command'),
    start: ({ model, service }) => ({
      command: ['gemini', '-p', PROMPT, '--yolo', '--skip-trust'],
      env: { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: model, GEMINI_MODEL: 'gemini-2.5-flash' },
      files: {
        '.gemini/settings.json': {
          mcpServers: { [SERVER]: { httpUrl: service, trust: true } },
          security: { auth: { selectedType: 'gemini-api-key' } },
          privacy: { usageStatisticsEnabled: false }
        }
      }
    })
  },
  opencode: {
    package: 'opencode-ai@1.18.33',
    shell: bashOf('bash'),
    start: ({ model, service }) => ({
      command: ['opencode', 'run', '--auto', '-m', 'scripted/scripted', PROMPT],
      files: {
        'opencode.json': {
          autoupdate: false,
          mcp: { [SERVER]: { type: 'remote', url: service, enabled: true } },
          provider: {
            scripted: {
              npm: '@ai-sdk/openai-compatible',
              options: { baseURL: `${model}/v1`, apiKey: 'none' },
              models: { scripted: { name: 'scripted' } }
            }
          }
        }
      }
    })
  },
  qwen: {
    package: '@qwen-code/qwen-code@0.24.4',
    shell: bashOf('run_shell_command'),
    search: { tool: 'tool_search', call: 'tool_call' },
    start: ({ model, service }) => ({
      command: [
        'qwen', '-p', PROMPT, '--yolo', '--auth-type', 'openai', '--openai-api-key', 'none',
        '--openai-base-url', `${model}/v1`, '-m', 'scripted'
      ],
      files: {
        '.qwen/settings.json': {
          mcpServers: { [SERVER]: { httpUrl: service, trust: true } },
          privacy: { usageStatisticsEnabled: false }
        }
      }
    })
  },
  continue: {
    package: '@continuedev/cli@1.5.47',
    shell: bashOf('Bash'),
    start: ({ home, model, service }) => ({
      command: ['cn', '-p', '--auto', '--config', `${home}/config.yaml`, PROMPT],
      env: { CONTINUE_TELEMETRY_ENABLED: '0' },
      files: {
        'config.yaml': {
          name: 'scripted',
          version: '1.0.0',
          schema: 'v1',
          models: [{
            name: 'scripted',
            provider: 'openai',
            model: 'gpt-4o',
            apiBase: `${model}/v1`,
            apiKey: 'none',
            roles: ['chat'],
            capabilities: ['tool_use']
          }],
          mcpServers: [{ name: SERVER, type: 'streamable-http', url: service }]
        }
      }
    })
  },
  cline: {
    package: 'cline@3.0.65',
    shell: { tool: 'run_commands', toArgs: (command) => ({ commands: [command] }) },
    start: ({ model, service }) => ({
      before: [
        'cline', 'auth', '--provider', 'openai', '--apikey', 'none', '--modelid', 'scripted', '--baseurl',
        `${model}/v1`
      ],
      command: ['cline', '--auto-approve', 'true', '--timeout', '120', PROMPT],
      files: {
        '.cline/data/settings/cline_mcp_settings.json': {
          mcpServers: { [SERVER]: { type: 'streamableHttp', url: service, disabled: false } }
        }
      }
    })
  },
  copilot: {
    package: '@github/copilot@1.0.102',
    shell: bashOf('bash'),
    start: ({ model, service }) => ({
      command: ['copilot', '-p', PROMPT, '--allow-all-tools'],
      env: {
        COPILOT_PROVIDER_BASE_URL: `${model}/v1`, COPILOT_PROVIDER_API_KEY: 'none', COPILOT_MODEL: 'scripted'
      },
      files: {
        '.copilot/mcp-config.json': { mcpServers: { [SERVER]: { type: 'http', url: service, tools: ['*'] } } }
      }
    })
  }
}
