// Vendure with its administration: node vendure.cjs PORT NODE_MODULES
const [port, modules] = process.argv.slice(2);
const { bootstrap, DefaultLogger, LogLevel } = require(`${modules}/@vendure/core`);
const { AdminUiPlugin } = require(`${modules}/@vendure/admin-ui-plugin`);

bootstrap({
  apiOptions: { hostname: '127.0.0.1', port: Number(port), adminApiPath: 'admin-api', shopApiPath: 'shop-api' },
  authOptions: {
    tokenMethod: ['bearer'],
    superadminCredentials: { identifier: 'ann', password: 'tr0ub4dor-and-3' },
  },
  dbConnectionOptions: { type: 'sqljs', synchronize: true, logging: false },
  logger: new DefaultLogger({ level: LogLevel.Warn }),
  paymentOptions: { paymentMethodHandlers: [] },
  plugins: [
    AdminUiPlugin.init({
      route: 'admin',
      port: Number(port),
      adminUiConfig: { apiHost: 'http://127.0.0.1', apiPort: Number(port), tokenMethod: 'bearer' },
    }),
  ],
});
